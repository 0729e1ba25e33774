// Samples keys for heavy hitters, counts their keys, extracts the remainder of keys alone, and finally merges both
// (heavy_hitters.cuh). So a skewed sort costs what its remaining keys cost.
//
// Bytes moved per key of width w, of which a share l remains: w to count, l w to extract. With values of width v,
// which extract_stable.cu moves first, 2 (w + v) to merge; else w (1 + l).
#include "arrange/sort/gpu/heavy_hitters/sample.cuh"
#include "arrange/sort/gpu/lsd/order_check.cuh"
#include "gpu/block/dependent_launch.cuh"
#include "gpu/block/partition_point.cuh"

using namespace headrace;

using Table = ClassTable<Key, HR_CLASS_BITS>;
constexpr u32 classes = All::classes;
constexpr u32 warps = threads / tile::lanes;

// Counters of classes, one for each lane of a warp, so that additions do not collide.
struct ClassCounts {
    u32 of_lane[classes][tile::lanes];

    HR_MEMBER void clear() {
        for (u32 i = threadIdx.x; i < classes * tile::lanes; i += threads) (&of_lane[0][0])[i] = 0;
    }
    HR_MEMBER void add(u32 c) { atomicAdd(&of_lane[c][tile::lane()], 1u); }
    // Adds the counts to those in device memory, after a barrier.
    HR_MEMBER void add_to(All& heavy) const {
        for (u32 c = 1 + tile::warp(); c <= heavy.number; c += warps) {
            const u32 sum = __reduce_add_sync(tile::all_lanes, of_lane[c][tile::lane()]);
            if (tile::lane() == 0 && sum != 0) atomicAdd(&heavy.count[c], static_cast<u64>(sum));
        }
    }
};

HR_FN bool is_there(const Input& input, u64 at, u32 row, u32 k) {
    return at + tile::row_begin<Key, rows>(row) + k < input.count;
}

// Counts a tile's heavy keys. Returns a bit for each of a lane's other keys.
HR_FN u32 count_tile(const Codes& codes, const Input& input, u64 at, const Table& table, ClassCounts& counts) {
    u32 is_light = 0;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
#pragma unroll
        for (u32 k = 0; k < per; ++k) {
            const u32 c = table.of(codes.some.row[row].item[k]);
            if (!is_there(input, at, row, k)) continue;
            if (c != 0) counts.add(c);
            if (c == 0) is_light |= 1u << (row * per + k);
        }
    }
    return is_light;
}

// Counts the keys of each heavy hitter.
extern "C" __global__ void __launch_bounds__(threads)
    count_heavy(const Key* keys, u64 count, KeyRule<Key> rule, All* heavy, const DevicePlan* plan) {
    tile::wait_for_launch_before();
    __shared__ Table table;
    __shared__ ClassCounts counts;
    if (plan->heavy == 0) return;
    table.fill(*heavy);
    counts.clear();
    __syncthreads();
    const Input input(keys, count, rule);
    for (u64 at = blockIdx.x * u64{tile_keys}; at < count; at += gridDim.x * u64{tile_keys}) {
        Codes codes;
        codes.load(input, at);
        count_tile(codes, input, at, table, counts);
    }
    __syncthreads();
    counts.add_to(*heavy);
}

struct PackShared {
    u32 of_warp[warps];
    u32 begin;
};

// Returns where a warp's `own` keys go, after all that were reserved before. It contains barriers.
HR_FN u32 reserve_range(u32 own, PackShared& shared, u32* reserved) {
    if (tile::lane() == 0) shared.of_warp[tile::warp()] = own;
    __syncthreads();
    if (tile::warp() == 0) {
        const u32 some = tile::lane() < warps ? shared.of_warp[tile::lane()] : 0;
        const u32 upto = tile::scan_warp<Sum<u32>>(some);
        if (tile::lane() < warps) shared.of_warp[tile::lane()] = upto - some;
        if (tile::lane() == tile::lanes - 1) shared.begin = atomicAdd(reserved, upto);
    }
    __syncthreads();
    const u32 begin = shared.begin + shared.of_warp[tile::warp()];
    __syncwarp();  // the next tile overwrites it
    return begin;
}

// Counts the keys of each heavy hitter, and copies the other keys to `remainder`, in no order.
extern "C" __global__ void __launch_bounds__(threads)
    extract_keys(const Key* keys, u64 count, KeyRule<Key> rule, All* heavy, Key* remainder, DevicePlan* plan) {
    tile::wait_for_launch_before();
    __shared__ Table table;
    __shared__ ClassCounts counts;
    __shared__ PackShared shared;
    if (plan->heavy == 0) return;
    table.fill(*heavy);
    counts.clear();
    __syncthreads();
    const Input input(keys, count, rule);
    const u32 before = (1u << tile::lane()) - 1;
    for (u64 at = blockIdx.x * u64{tile_keys}; at < count; at += gridDim.x * u64{tile_keys}) {
        Codes codes;
        codes.load(input, at);
        const u32 is_light = count_tile(codes, input, at, table, counts);
        const u32 own = __reduce_add_sync(tile::all_lanes, static_cast<u32>(__popc(is_light)));
        Key* to = remainder + reserve_range(own, shared, &plan->remainder);
#pragma unroll
        for (u32 j = 0; j < rows * per; ++j) {
            const bool here = (is_light >> j & 1) != 0;
            const u32 all = __ballot_sync(tile::all_lanes, here);
            if (here) to[__popc(all & before)] = rule.key(codes.some.row[j / per].item[j % per]);
            to += __popc(all);
        }
    }
    __syncthreads();
    counts.add_to(*heavy);
}

// The result as alternating runs of remaining keys and heavy keys: where run r begins, and how far after it its items
// lie in `between`.
constexpr u32 max_runs = 2 * classes;
struct MergeRuns {
    u64 begin[max_runs];  // ascending; remaining keys if r is even, heavy ones if it is odd
    i64 from[max_runs];   // added to a position of the result
    u32 number;

    // Returns the run of a position.
    HR_MEMBER u32 at(u64 place) const {
        u32 low = 0, high = number;
        while (high - low > 1) {
            const u32 middle = (low + high) / 2;
            if (begin[middle] <= place) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }
};

HR_FN u64 lights_below(const Key* sorted, u64 remainder, const Input& input, Key code) {
    return tile::partition_point(0, remainder, [&](u64 i) { return input.code(sorted[i]) < code; });
}

// Finds all runs. All threads call it; it contains barriers.
HR_FN void find_runs(MergeRuns& runs, const All& heavy, const Input& remainder) {
    const u32 c = threadIdx.x;
    if (c < classes && c <= heavy.number) {
        u64 before = 0;  // heavy keys
        for (u32 other = 1; other < c; ++other) before += heavy.count[other];
        const u64 own = c == 0 ? 0 : heavy.count[c];
        const u64 below = c == 0 ? 0 : lights_below(remainder.keys, remainder.count, remainder, heavy.code[c]);
        if (c != 0) {
            runs.begin[2 * c - 1] = below + before;
            runs.from[2 * c - 1] = static_cast<i64>(remainder.count) - static_cast<i64>(below);
        }
        runs.begin[2 * c] = below + before + own;
        runs.from[2 * c] = -static_cast<i64>(before + own);
    }
    if (c == 0) runs.number = 2 * heavy.number + 1;
    __syncthreads();
}

// Writes positions [first, end) of the result, which may lie in one run or several. `result(r)` is the value of heavy
// keys in run r.
constexpr u32 together_items = 8;
template <class Item, class Result>
HR_FN void put_tile(const MergeRuns& runs, const Item* in, Item* out, u64 first, u64 end, const Result& result) {
    const u32 r = runs.at(first);
    const bool whole =
        end - first == u64{threads} * together_items && (r + 1 == runs.number || runs.begin[r + 1] >= end);
    if (whole) {
        Item item[together_items];
#pragma unroll
        for (u32 j = 0; j < together_items; ++j) {
            const u64 at = first + j * threads + threadIdx.x;
            item[j] =
                result.is_known && r % 2 != 0 ? result(r) : in[static_cast<u64>(static_cast<i64>(at) + runs.from[r])];
        }
#pragma unroll
        for (u32 j = 0; j < together_items; ++j) out[first + j * threads + threadIdx.x] = item[j];
        return;
    }
    for (u64 at = first + threadIdx.x; at < end; at += threads) {
        const u32 own = runs.at(at);
        out[at] =
            result.is_known && own % 2 != 0 ? result(own) : in[static_cast<u64>(static_cast<i64>(at) + runs.from[own])];
    }
}

// For keys alone: all keys of a heavy hitter are the same.
struct FromCode {
    static constexpr bool is_known = true;
    const All& heavy;
    const KeyRule<Key>& rule;
    HR_MEMBER Key operator()(u32 r) const { return rule.key(heavy.code[r / 2 + 1]); }
};
template <class Item>
struct FromBefore {
    static constexpr bool is_known = false;
    HR_MEMBER Item operator()(u32) const { return Item{}; }
};

template <class Item, class Result>
HR_FN void put_all(const MergeRuns& runs, const MovedColumn& moved, u64 count, const Result& result) {
    constexpr u64 step = u64{threads} * together_items;
    const Item* const in = static_cast<const Item*>(moved.between);
    Item* const out = static_cast<Item*>(moved.target);
    for (u64 first = blockIdx.x * step; first < count; first += gridDim.x * step) {
        put_tile(runs, in, out, first, first + step < count ? first + step : count, result);
    }
}

// Merges everything from `between` to the target.
extern "C" __global__ void __launch_bounds__(threads)
    merge_heavy(KeyRule<Key> rule, SortArrays arrays, u64 count, u32 writes_keys, const All* heavy,
                const DevicePlan* plan) {
    tile::wait_for_launch_before();
    __shared__ MergeRuns runs;
    if (plan->heavy == 0) return;
    find_runs(runs, *heavy, Input(static_cast<const Key*>(arrays.keys.between), plan->remainder, rule));
    if (writes_keys != 0) {
        if (arrays.columns == 0 && !with_equals) {
            put_all<Key>(runs, arrays.keys, count, FromCode{*heavy, rule});
        } else {
            put_all<Key>(runs, arrays.keys, count, FromBefore<Key>{});
        }
    }
#pragma unroll 1
    for (u32 c = 0; c < arrays.columns; ++c) {
        const MovedColumn& moved = arrays.column[c];
        if (moved.width == 1) put_all<u8>(runs, moved, count, FromBefore<u8>{});
        if (moved.width == 2) put_all<u16>(runs, moved, count, FromBefore<u16>{});
        if (moved.width == 4) put_all<u32>(runs, moved, count, FromBefore<u32>{});
        if (moved.width == 8) put_all<u64>(runs, moved, count, FromBefore<u64>{});
        if (moved.width == 16) put_all<uint4>(runs, moved, count, FromBefore<uint4>{});
    }
}

// Chooses heavy hitters from a sample; one block. Dynamic shared memory: codes of the sample, and two words for each.
// Keys in order have a sample in order; then none are chosen.
extern "C" __global__ void __launch_bounds__(sample_threads)
    sample_heavy(const Key* keys, u64 count, KeyRule<Key> rule, PlanInputs task, All* heavy, DevicePlan* plan) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(Key, code);
    __shared__ SampleShared shared;
    u32* const cell = reinterpret_cast<u32*>(code + sampled);
    const Input input(keys, count, rule);
    const auto place = [](u32 k) { return k * sample_threads + threadIdx.x; };
    Key own[per_thread];  // all loads are in flight together, each in its own page
#pragma unroll
    for (u32 k = 0; k < per_thread; ++k) own[k] = keys[count * place(k) / sampled];
    for (u32 i = threadIdx.x; i < cells; i += sample_threads) cell[i] = 0;
    if (threadIdx.x == 0) {
        shared.listed = shared.chosen = shared.in_chosen = shared.pairs = shared.pairs_chosen = 0;
        shared.best = ~0u;
        shared.differ = 0;
    }
#pragma unroll
    for (u32 k = 0; k < per_thread; ++k) code[place(k)] = own[k] = input.code(own[k]);
    __syncthreads();
    bool falls = false, rises = false;
    Key differ = 0;
#pragma unroll
    for (u32 k = 0; k < per_thread; ++k) {
        const Key next = code[place(k) + 1 < sampled ? place(k) + 1 : place(k)];
        differ |= own[k] ^ code[0];
        falls |= own[k] > next;
        rises |= own[k] < next;
    }
    if (__syncthreads_or(falls) == 0 || __syncthreads_or(rises) == 0) return;
    atomicOr(&shared.differ, differ);
    for (u32 k = 0; k < per_thread; ++k) count_alike(code, k * sample_threads + threadIdx.x, cell);
    __syncthreads();
    list_values(cell, shared);
    __syncthreads();
    choose_values(code, shared);
    __syncthreads();
    const u32 remaining = sampled - shared.in_chosen;
    if (threadIdx.x == 0) {
        const u64 remainder = count * remaining / sampled;
        const u32 equal = shared.pairs - shared.pairs_chosen;
        plan->repeats = are_repeated(equal, pairs_among(static_cast<float>(remaining)), remainder, task) ? 1 : 0;
    }
    if (shared.chosen == 0) return;
    find_hash(cell, shared);
    __syncthreads();
    const u32 number = write_values(shared, *heavy);
    if (threadIdx.x != 0) return;
    u32 differing = 0;
    for (u32 d = 0; d < key_digits; ++d) differing += (shared.differ >> d * bits & (digits - 1)) != 0 ? 1 : 0;
    const float light = static_cast<float>(remaining) / sampled;
    if (!is_cheaper(heavy_cost(task, light, differing), costs.digits + lsd_cost(task, differing))) return;
    heavy->number = number;
    plan->heavy = number;
}
