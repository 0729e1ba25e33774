// Searches keys in sorted keys, marks the runs of sorted keys, and measures runs, by the rules of search.hpp. A thread
// has several searches in flight, since each halving waits for memory.
//
// Bytes moved per key of width w. A search: w, 8, and a sector of 32 bytes per halving that is not in a cache. A mark:
// w + 1. A length of a run: 16.
#include "arrange/search/search.hpp"
#include "gpu/block/turns.cuh"

using namespace headrace;

using Key = HR_KEY;
constexpr u32 threads = HR_THREADS;
constexpr u32 turns = HR_TURNS;

extern "C" __global__ void __launch_bounds__(threads)
    search_keys(const Key* sorted, u64 sorted_count, const Key* keys, u64 count, KeyRule<Key> rule,
                SearchOptions options, i64* positions) {
    Key wanted[turns];
    u64 low[turns];
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = tile::item_of_turn<threads, turns>(turn);
        low[turn] = 0;
        wanted[turn] = i < count ? rule.equal_code(keys[i]) : Key{0};
    }
    for (u64 length = sorted_count; length > 1; length -= length / 2) {
#pragma unroll
        for (u32 turn = 0; turn < turns; ++turn) {
            low[turn] = halve(sorted, low[turn], length, wanted[turn], rule, options.after_equal);
        }
    }
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = tile::item_of_turn<threads, turns>(turn);
        if (i >= count) continue;
        const bool is_after =
            sorted_count > 0 && is_before(rule.equal_code(sorted[low[turn]]), wanted[turn], options.after_equal);
        positions[i] = result_position(low[turn] + is_after, sorted_count, options);
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    mark_runs(const Key* keys, u64 count, KeyRule<Key> rule, u8* marks) {
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = tile::item_of_turn<threads, turns>(turn);
        if (i < count) marks[i] = begins_run(keys, i, rule);
    }
}

// `begins`: the first key of each of `count` runs; `end`: the number of keys.
extern "C" __global__ void __launch_bounds__(threads)
    measure_runs(const i64* begins, u64 count, u64 end, i64* lengths) {
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = tile::item_of_turn<threads, turns>(turn);
        if (i < count) lengths[i] = (i + 1 < count ? begins[i + 1] : static_cast<i64>(end)) - begins[i];
    }
}
