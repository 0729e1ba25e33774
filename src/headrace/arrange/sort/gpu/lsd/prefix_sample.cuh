// PrefixEstimates from a sample how prefixes divide the keys, and makes a rank map (rank_map.hpp) from it. One block
// does it; the includer defines its `threads`.
#pragma once
#include "arrange/sort/gpu/common/plan_steps.cuh"
#include "arrange/sort/gpu/common/range_digit.cuh"
#include "gpu/block/block.cuh"

namespace headrace {

constexpr u32 prefixes = 1u << prefix_bits;

// Size of the sample, and number of cells, which several prefixes share.
constexpr u32 of_thread = 4;
constexpr u32 sampled = of_thread * threads;
constexpr u32 cells = prefixes / 4;

// PrefixEstimates the number of splits of a key after its first digit from the pairs of a sample in one cell. Pairs
// estimate the sum of squared shares of the prefixes, and so the number of keys that share a key's prefix. The square
// root of that share is what one digit leaves.
HR_FN float splits_by_sample(u32 pairs, const PlanInputs& task, u32 digits_left) {
    const float all = 0.5f * sampled * sampled;
    float alike = static_cast<float>(pairs) / all - 1.0f / cells;
    if (alike < 0) alike = 0;
    alike += 1.0f / prefixes;
    float share = 1;
    for (u32 step = 0; step < 12; ++step) share = 0.5f * (share + alike / share);  // Newton's method
    float left = static_cast<float>(task.count) * alike;
    u32 splits = 1;
    const float most = 1.5f * static_cast<float>(task.max_leaf_keys);  // margin for the sample's error
    for (; splits <= digits_left && left > most; ++splits) left *= share;
    return static_cast<float>(splits);
}

// Shared memory of the block that samples keys.
struct Sampling {
    u32 pairs, third_pairs;  // pairs of keys in one cell, and with the same third digit
    u32 third[digits];
    u32 equal;  // keys whose code an earlier one has
    u32 least, most, differing;
    u32 totals[threads / tile::lanes];
};

// A decision about prefixes.
struct PrefixEstimate {
    float splits;    // of a key after its first digit
    float alike;     // how many times more pairs share a cell of the sample than with an even spread
    float crowding;  // the same for the third digit
};

// Estimates how ranks of 32 bits divide the keys of the sample. A cell has four prefixes. Neighbours show keys that are
// spread unevenly at large. Prefixes far apart show keys that crowd within a cell of a rank map. `cell`: shared memory.
// All threads call it.
template <bool neighbours = false>
HR_FN PrefixEstimate estimate(const u32 (&rank)[of_thread], const PlanInputs& task, u32* cell, Sampling& shared) {
    for (u32 i = threadIdx.x; i < cells; i += threads) cell[i] = 0;
    if (threadIdx.x < digits) shared.third[threadIdx.x] = 0;
    if (threadIdx.x == 0) shared.pairs = shared.third_pairs = 0;
    __syncthreads();
    u32 pairs = 0, third_pairs = 0;
#pragma unroll
    for (u32 k = 0; k < of_thread; ++k) {
        const u32 prefix = rank[k] >> (32 - prefix_bits);
        pairs +=
            atomicAdd(&cell[neighbours ? prefix / (prefixes / cells) : prefix % cells], 1u);  // with each earlier key
        third_pairs += atomicAdd(&shared.third[rank[k] >> (32 - prefix_bits - bits) & (digits - 1)], 1u);
    }
    pairs = __reduce_add_sync(tile::all_lanes, pairs);
    third_pairs = __reduce_add_sync(tile::all_lanes, third_pairs);
    if (tile::lane() == 0) atomicAdd(&shared.pairs, pairs);
    if (tile::lane() == 0) atomicAdd(&shared.third_pairs, third_pairs);
    __syncthreads();
    constexpr float all = 0.5f * sampled * sampled;
    return {splits_by_sample(shared.pairs, task, key_digits - 2), static_cast<float>(shared.pairs) * cells / all,
            static_cast<float>(shared.third_pairs) * digits / all};
}

// The map takes as long as a tenth of the sort of fewer keys.
constexpr u64 min_ranked_keys = bits < 8 ? 0 : u64{1} << 25;

// Keys beside each key of the sample, which the same access to memory brings.
constexpr u32 together = 8;

HR_FN Key sampled_key(const Key* keys, u64 count, u32 i, u32 beside) {
    const u64 at = count * i / sampled + beside;
    return keys[at < count ? at : count - 1];
}

// The keys of which a sample is taken, and what makes a rank map of them.
struct RankSample {
    const Key* keys;
    const KeyRule<Key>& rule;
    const PlanInputs& task;
    RankMap* map;
    u32* cell;  // shared memory
    Sampling& shared;
};

// Adds cells to an even map, from `together` times the sample. A barrier precedes and follows.
HR_FN void add_cells(const RankSample& sample) {
    constexpr u32 map_cells = 1u << rank_cell_bits, each = (map_cells + threads - 1) / threads;
    static_assert(map_cells <= cells);
    RankMap* const map = sample.map;
    u32* const cell = sample.cell;
    if (threadIdx.x == 0) map->cell_bits = rank_cell_bits;
    for (u32 i = threadIdx.x; i < map_cells; i += threads) cell[i] = 0;
    __syncthreads();
    const EvenRanks ranks(map);
#pragma unroll 2
    for (u32 beside = 0; beside < together; ++beside) {
#pragma unroll
        for (u32 k = 0; k < of_thread; ++k) {
            const Key key = sampled_key(sample.keys, sample.task.count, of_thread * threadIdx.x + k, beside);
            atomicAdd(&cell[CellRanks::cell_of(ranks.distance_of(static_cast<u32>(sample.rule.code(key))))], 1u);
        }
    }
    __syncthreads();
    const u32 begin = threadIdx.x * each, end = begin + each < map_cells ? begin + each : map_cells;
    u32 sum = 0;
    for (u32 i = begin; i < end; ++i) sum += cell[i];
    const u32 upto = tile::scan_warp<Sum<u32>>(sum), of_warp = tile::shuffle(upto, tile::lanes - 1);
    u32 before = tile::scan_warps<Sum<u32>, threads>(of_warp, sample.shared.totals).before + upto - sum;
    u32* const words = reinterpret_cast<u32*>(map + 1);
    const auto first_of = [&](u32 i, u32 keys_before) {  // each cell has a prefix; the others go by keys
        return i + static_cast<u32>(u64{keys_before} * (prefixes - map_cells) / (together * sampled));
    };
    for (u32 i = begin; i < end; ++i) {
        const u32 first = first_of(i, before);
        before += cell[i];
        words[i] = first | (first_of(i + 1, before) - first) << 16;
    }
    __syncthreads();
}

// The word of a code in a table of the sample's codes, and what it holds.
struct CodeMark {
    u32 place, mark;

    HR_MEMBER static CodeMark of(Key code) {
        const u64 hash = (u64{code} + 1) * 0x9E3779B97F4A7C15;
        return {static_cast<u32>(hash >> 48) % cells, static_cast<u32>(hash >> 16) | 1};
    }
};

// Adds a count of each thread to the number of equal keys. A barrier precedes and follows.
HR_FN void sum_equal(u32 equal, Sampling& shared) {
    equal = __reduce_add_sync(tile::all_lanes, equal);
    if (tile::lane() == 0) atomicAdd(&shared.equal, equal);
    __syncthreads();
}

// Returns whether values repeat too often for MSD, by the pairs of equal keys in the sample. With values, few pairs
// decide. Then the neighbours of sampled keys are looked up too, among the keys of other places.
HR_FN bool do_repeat(const Key (&code)[of_thread], const RankSample& sample) {
    Sampling& shared = sample.shared;
    u32* const cell = sample.cell;
    for (u32 i = threadIdx.x; i < cells; i += threads) cell[i] = 0;
    if (threadIdx.x == 0) shared.equal = 0;
    __syncthreads();
    u32 equal = 0;
#pragma unroll
    for (u32 k = 0; k < of_thread; ++k) {
        const CodeMark own = CodeMark::of(code[k]);
        equal += atomicExch(&cell[own.place], own.mark) == own.mark ? 1 : 0;
    }
    sum_equal(equal, shared);
    const u32 found = shared.equal;
    const u64 count = sample.task.count;
    if (sample.task.value_bytes == 0 || found == 0)
        return are_repeated(found, pairs_among(sampled), count, sample.task);
    equal = 0;
    __syncthreads();
    for (u32 beside = 1; beside < together; ++beside) {
#pragma unroll
        for (u32 k = 0; k < of_thread; ++k) {
            const Key other = sample.rule.code(sampled_key(sample.keys, count, of_thread * threadIdx.x + k, beside));
            const CodeMark own = CodeMark::of(other);
            equal += other != code[k] && cell[own.place] == own.mark ? 1 : 0;
        }
    }
    sum_equal(equal, shared);
    return are_repeated(shared.equal - found, 2 * (together - 1) * pairs_among(sampled), count, sample.task);
}

// Finds the lowest and the highest code of the sample, and the bits that differ. A barrier must follow.
HR_FN void summarize(const Key (&code)[of_thread], Sampling& shared) {
    const u32 first = static_cast<u32>(code[0]);
    u32 least = ~0u, most = 0, differing = first ^ tile::shuffle(first, 0);
#pragma unroll
    for (u32 k = 0; k < of_thread; ++k) {
        const u32 own = static_cast<u32>(code[k]);
        least = own < least ? own : least;
        most = own > most ? own : most;
        differing |= own ^ first;
    }
    atomicMin(&shared.least, least);
    atomicMax(&shared.most, most);
    if (differing != 0) atomicOr(&shared.differing, differing);
}

template <bool neighbours, class Ranks>
HR_FN PrefixEstimate estimate_by(const Ranks& ranks, const Key (&code)[of_thread], const PlanInputs& task, u32* cell,
                                 Sampling& shared) {
    u32 rank[of_thread];
#pragma unroll
    for (u32 k = 0; k < of_thread; ++k) rank[k] = ranks.of(static_cast<u32>(code[k]));
    return estimate<neighbours>(rank, task, cell, shared);
}

// Whether prefixes are spread so evenly that other ranks need not be estimated.
HR_FN bool is_even(const PrefixEstimate& found, float most) {
    return found.alike < most && found.splits <= 1 && found.crowding < 1.25f;
}

// Returns how many times more pairs share their third digit than with an even spread. Equal keys alone, whose bins are
// searched, count as half a time more.
HR_FN float crowding_of(const PrefixEstimate& found, const RankSample& sample) {
    return found.crowding + (sample.task.value_bytes == 0 && sample.shared.equal > 1 ? 0.5f : 0);
}

HR_FN float msd_cost_by(const PrefixEstimate& found, const RankSample& sample) {
    return costs.prefixes + msd_cost(sample.task, found.splits, true, crowding_of(found, sample));
}

// Makes a rank map, and returns whether MSD by it is cheaper than LSD and than `other`. All threads call it.
HR_FN bool try_ranks(const Key (&code)[of_thread], const RankSample& sample, float other, float& crowding) {
    Sampling& shared = sample.shared;
    const PlanInputs& task = sample.task;
    summarize(code, shared);
    __syncthreads();
    if (threadIdx.x == 0) *sample.map = RankMap::of(shared.least, shared.most, prefix_bits);
    __syncthreads();
    PrefixEstimate found = estimate_by<true>(EvenRanks(sample.map), code, task, sample.cell, shared);
    constexpr float most = 1.3f;
    if (!is_even(found, most)) {
        add_cells(sample);
        found = estimate_by<false>(CellRanks(sample.map), code, task, sample.cell, shared);
    }
    if (found.alike > most) return false;  // keys crowd within cells, such as words of which few bits vary
    u32 differing = 0;
    for (u32 d = 0; d < key_digits; ++d) differing += (shared.differing >> d * bits & (digits - 1)) != 0 ? 1 : 0;
    const float msd = msd_cost_by(found, sample);
    if (msd >= other || !is_cheaper(msd, costs.digits + lsd_cost(task, differing))) return false;
    crowding = crowding_of(found, sample);
    return true;
}

}  // namespace headrace
