// Counts 16-bit prefixes of keys, that is their two highest digits, in one pass over the data. MSD needs no other
// counts for its first two passes: prefixes give the size of every bucket of two digits. A prefix costs one addition
// a key; counting all digits costs four, or eight.
//
// A sample decides whether counting is likely to pay: prefixes of codes or, if these are not spread evenly, of
// estimated ranks (rank_map.hpp). If the counts then show that MSD is cheaper, the plan is made from them. If not, all
// digits are counted (digit_histogram.cu), and this count was in vain.
//
// Counters have 16 bits, two in a word, so that 2^16 of them fit a multiprocessor. Before one can overflow, all that
// are not nearly empty are added to the totals.
//
// Bytes moved per key of width w: w.
#include "arrange/sort/gpu/common/plan_steps.cuh"
#include "arrange/sort/gpu/lsd/order_check.cuh"
#include "arrange/sort/gpu/lsd/prefix_sample.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

constexpr u32 words = prefixes / 2;            // prefixes whose highest bit is set are the upper halves
constexpr u32 count_limit = HR_FULL;           // counters stay below this value
constexpr u32 nearly_empty = count_limit / 8;  // a power of two
constexpr u32 tiles_between = (count_limit - nearly_empty) / tile_keys;
static_assert(count_limit <= 1u << 16 && tiles_between > 0 && words % 4 == 0 && !with_equals && threads >= digits);

// Samples keys and decides whether prefixes are counted; one block. Keys in order have a sample in order, as far as
// warps see; then they are not counted. Dynamic shared memory: a word for each of `cells`.
extern "C" __global__ void __launch_bounds__(threads)
    sample_prefixes(const Key* keys, u64 count, KeyRule<Key> rule, PlanInputs task, RankMap* map, DevicePlan* plan) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(u32, cell);
    __shared__ Sampling shared;
    if (plan->heavy != 0 || plan->repeats != 0) return;
    if (threadIdx.x == 0) {
        shared.least = ~0u;
        shared.most = shared.differing = 0;
    }
    Key code[of_thread];  // neighbours in the sample; all loads are in flight together, each in its own page
#pragma unroll
    for (u32 k = 0; k < of_thread; ++k) code[k] = sampled_key(keys, count, of_thread * threadIdx.x + k, 0);
    bool falls = false, rises = false;
    u32 rank[of_thread], varying = 0;  // bits of prefixes
#pragma unroll
    for (u32 k = 0; k < of_thread; ++k) {
        code[k] = rule.code(code[k]);
        if (k > 0) falls |= code[k - 1] > code[k];
        if (k > 0) rises |= code[k - 1] < code[k];
        if (k > 0) varying |= static_cast<u32>((code[k - 1] ^ code[k]) >> (key_bits - prefix_bits));
        rank[k] = static_cast<u32>(code[k] >> (key_bits - 32));
    }
    const Key next = __shfl_down_sync(tile::all_lanes, code[0], 1);
    falls |= tile::lane() + 1 < tile::lanes && code[of_thread - 1] > next;
    rises |= tile::lane() + 1 < tile::lanes && code[of_thread - 1] < next;
    const u32 falling = static_cast<u32>(__syncthreads_count(falls));
    const u32 rising = static_cast<u32>(__syncthreads_count(rises));
    if (falling == 0 || rising == 0) return;
    const bool both_vary = __syncthreads_or(varying >> bits) != 0 && __syncthreads_or(varying & (digits - 1)) != 0;
    const RankSample sample = {keys, rule, task, map, cell, shared};
    if (do_repeat(code, sample)) {
        if (threadIdx.x == 0) plan->repeats = 1;
        return;
    }
    const PrefixEstimate found = estimate(rank, task, cell, shared);
    float crowding = crowding_of(found, sample);
    const float msd = msd_cost_by(found, sample);
    const float lsd = costs.digits + lsd_cost(task, key_digits);
    const bool by_codes = is_cheaper(msd, lsd);
    bool by_ranks = false;
    if constexpr (can_have_ranks) {
        const bool is_nearly_sorted = falling < threads / 4 || rising < threads / 4;
        if (task.value_bytes == 0 && count >= min_ranked_keys && !is_nearly_sorted && !is_even(found, 2))
            by_ranks = try_ranks(code, sample, lsd, crowding);
    }
    if (threadIdx.x != 0) return;
    plan->crowding = crowding;
    if (by_ranks) plan->division = Division::ranks;
    plan->counts_prefixes = by_codes || by_ranks;
    plan->is_skewed = both_vary && !by_codes && !by_ranks;
}

HR_FN void count_prefix(u32 prefix, u32* counters) {
    atomicAdd(&counters[prefix % words], prefix < words ? 1u : 1u << 16);
}

HR_FN void add_word(u32 word, u32 i, u32* totals) {
    const u32 low = word & 0xFFFF, high = word >> 16;
    if (low != 0) atomicAdd(&totals[i], low);
    if (high != 0) atomicAdd(&totals[words + i], high);
}

// Adds counters that are not nearly empty, and their neighbours in a vector, to the totals. Barriers before and
// after.
HR_FN void drain(u32* counters, u32* totals) {
    constexpr u32 mask = ((1u << 16) - nearly_empty) * 0x10001u;
    uint4* const all = reinterpret_cast<uint4*>(counters);
    for (u32 i = threadIdx.x; i < words / 4; i += threads) {
        const uint4 four = all[i];
        if (((four.x | four.y | four.z | four.w) & mask) == 0) continue;
        all[i] = {0, 0, 0, 0};
        add_word(four.x, 4 * i, totals);
        add_word(four.y, 4 * i + 1, totals);
        add_word(four.z, 4 * i + 2, totals);
        add_word(four.w, 4 * i + 3, totals);
    }
}

// Adds all counters to the totals. Blocks begin at different counters, so that they rarely add to the same memory.
HR_FN void drain_all(const u32* counters, u32* totals) {
    for (u32 k = threadIdx.x; k < words; k += threads) {
        const u32 i = (k + blockIdx.x * threads) % words;
        add_word(counters[i], i, totals);
    }
}

// Calls each(code) for the codes of a tile, of which `left` exist.
template <bool whole, class Each>
HR_FN void for_each(const Codes& codes, u64 left, const Each& each) {
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
#pragma unroll
        for (u32 k = 0; k < per; ++k) {
            if (whole || tile::row_begin<Key, rows>(row) + k < left) each(codes.some.row[row].item[k]);
        }
    }
}

template <class Word>
HR_FN Word of_all_lanes(Word some) {
    Word all = __reduce_or_sync(tile::all_lanes, static_cast<u32>(some));
    if constexpr (sizeof(Word) == 8) {
        all |= static_cast<Word>(__reduce_or_sync(tile::all_lanes, static_cast<u32>(some >> 32))) << 32;
    }
    return all;
}

// Counts a tile's prefixes. Adds to `differ` the bits in which codes differ from `first`, until all bits do.
template <bool whole, class PrefixOf>
HR_FN void count_tile(const Codes& codes, u64 left, Key first, Key& differ, u32* counters, const PrefixOf& prefix_of) {
    if (differ != static_cast<Key>(~Key{0})) {
        Key found = 0;
        for_each<whole>(codes, left, [&](Key code) { found |= code ^ first; });
        differ |= of_all_lanes(found);
    }
    for_each<whole>(codes, left, [&](Key code) { count_prefix(prefix_of(code), counters); });
}

struct PrefixCount {
    const Key* keys;
    u64 count;
    const KeyRule<Key>& rule;
    u32* totals;          // counts of prefixes, added to
    u64* differing_bits;  // bits that are not the same in all codes
    u32* counters;        // shared memory: a word for two prefixes
};

template <class PrefixOf>
HR_FN void count_all(const PrefixCount& task, const PrefixOf& prefix_of) {
    const Input input(task.keys, task.count, task.rule);
    const Key first = input.code(task.keys[0]);
    Key differ = 0;
    u32 tiles = 0;
    for (u64 at = blockIdx.x * u64{tile_keys}; at < task.count; at += gridDim.x * u64{tile_keys}) {
        Codes codes;
        codes.load(input, at);
        if (task.count - at >= tile_keys) {
            count_tile<true>(codes, tile_keys, first, differ, task.counters, prefix_of);
        } else {
            count_tile<false>(codes, task.count - at, first, differ, task.counters, prefix_of);
        }
        if (++tiles == tiles_between) {
            tiles = 0;
            __syncthreads();
            drain(task.counters, task.totals);
            __syncthreads();
        }
    }
    if (tile::lane() == 0 && differ != 0) atomicOr(task.differing_bits, static_cast<u64>(differ));
    __syncthreads();
    drain_all(task.counters, task.totals);
}

template <class Ranks>
HR_FN void count_by_ranks(const PrefixCount& task, const Ranks& ranks) {
    count_all(task, [&](Key code) { return ranks.of(static_cast<u32>(code)) >> (32 - prefix_bits); });
}

// Counts prefixes of codes or of estimated ranks. It does nothing unless the plan asks for it.
extern "C" __global__ void __launch_bounds__(threads)
    count_prefixes(const Key* keys, u64 count, KeyRule<Key> rule, u32* totals, u64* differing_bits, const RankMap* map,
                   const DevicePlan* plan) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(u32, counters);
    if (plan->counts_prefixes == 0) return;
    for (u32 i = threadIdx.x; i < words; i += threads) counters[i] = 0;
    __syncthreads();
    const PrefixCount task = {keys, count, rule, totals, differing_bits, counters};
    if constexpr (can_have_ranks) {
        if (plan->division == Division::ranks) {
            if (map->cell_bits != 0) return count_by_ranks(task, CellRanks(map));
            return count_by_ranks(task, EvenRanks(map));
        }
    }
    count_all(task, [](Key code) { return static_cast<u32>(code >> (key_bits - prefix_bits)); });
}

// Estimates the number of splits after the second digit of the `own` keys of a prefix, of `all` keys with its first
// digit. Each digit is assumed to divide them as the second did: 8,000 of 2,000,000 are split once if a leaf bucket
// has 5,000 at most.
HR_FN u32 splits_after(u32 own, u32 all, u32 max_leaf_keys, u32 digits_left) {
    const float share = static_cast<float>(own) / static_cast<float>(all);
    float left = static_cast<float>(own);
    u32 splits = 0;
    while (splits < digits_left && left > static_cast<float>(max_leaf_keys)) {
        left *= share;
        ++splits;
    }
    return splits;
}

// Makes the plan from prefix counts if MSD is cheaper; then `totals` gets the counts of the highest digit. One block.
extern "C" __global__ void __launch_bounds__(threads)
    plan_by_prefixes(const u32* prefix_counts, const u64* differing_bits, PlanInputs task, u64* totals,
                     DevicePlan* plan) {
    tile::wait_for_launch_before();
    __shared__ u32 of_digit[digits];
    __shared__ u64 split;  // sum over keys of their splits after the first digit
    if (plan->counts_prefixes == 0) return;
    if (threadIdx.x == 0) split = 0;
    __syncthreads();
    u32 differ = 0;
    for (u32 d = 0; d < key_digits; ++d) {
        if ((*differing_bits >> d * bits & (digits - 1)) != 0) differ |= 1u << d;
    }
    const u32 highest = 3u << (key_digits - 2), differing = static_cast<u32>(__popc(differ));
    const bool by_ranks = plan->division == Division::ranks;
    __syncthreads();  // all have read it
    if (threadIdx.x == 0) plan->division = Division::digits;
    if (!by_ranks && ((differ & highest) != highest || differ == highest)) return;
    u64 mine = 0;
    for (u32 d = tile::warp(); d < digits; d += threads / tile::lanes) {
        constexpr u32 each = (digits + tile::lanes - 1) / tile::lanes;
        u32 own[each], sum = 0;
#pragma unroll
        for (u32 i = 0; i < each; ++i) {
            const u32 e = i * tile::lanes + tile::lane();
            own[i] = e < digits ? prefix_counts[d * digits + e] : 0;
            sum += own[i];
        }
        const u32 all = __reduce_add_sync(tile::all_lanes, sum);
        mine += tile::lane() == 0 && all > task.max_leaf_keys ? all : 0;
#pragma unroll
        for (u32 i = 0; i < each; ++i) {
            mine += u64{own[i]} * splits_after(own[i], all, task.max_leaf_keys, by_ranks ? 1 : differing - 2);
        }
        if (tile::lane() == 0) of_digit[d] = all;
    }
    mine = tile::reduce_warp<Sum<u64>>(mine);
    if (tile::lane() == 0) atomicAdd(&split, mine);
    __syncthreads();
    const float again = static_cast<float>(split) / static_cast<float>(task.count);
    const float lsd = costs.digits + lsd_cost(task, differing);
    if (!is_cheaper(msd_cost(task, again, true, plan->crowding), lsd)) {
        if (threadIdx.x == 0) plan->is_skewed = 1;
        return;
    }
    if (threadIdx.x < digits) totals[(key_digits - 1) * digits + threadIdx.x] = of_digit[threadIdx.x];
    if (threadIdx.x != 0) return;
    if (by_ranks) {
        write_range_passes(*plan, Division::ranks);
    } else {
        write_passes(*plan, differ, task, SortMethod::msd);
    }
    plan->has_prefixes = 1;
}
