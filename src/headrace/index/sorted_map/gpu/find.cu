// Searches keys, their neighbours and ranges in all levels, newest level first. A key leaves the search at the first
// level that has it. A thread has several searches in flight, since each halving waits for memory.
//
// Bytes moved per key of width w: w, the result, and a sector of 32 bytes for each halving that is not in a cache.
#include "index/sorted_map/level.hpp"

using namespace headrace;

using Code = HR_CODE;
constexpr u32 threads = HR_THREADS;
constexpr u32 turns = 4;

static __device__ __forceinline__ u64 item_of_turn(u32 turn) {
    return static_cast<u64>(blockIdx.x) * (threads * turns) + turn * threads + threadIdx.x;
}

extern "C" __global__ void __launch_bounds__(threads)
    find_keys(const __grid_constant__ MapLevels levels, const Code* keys, u64 count, KeyRule<Code> rule, void* values,
              u8* is_present) {
    Code wanted[turns];
    MapItem found[turns];
    bool is_open[turns];
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
        is_open[turn] = item_of_turn(turn) < count;
        wanted[turn] = is_open[turn] ? rule.equal_code(keys[item_of_turn(turn)]) : Code{0};
        found[turn] = {no_level, 0};
    }
    for (u32 of = 0; of < levels.count; ++of) {
        bool is_any = false;
#pragma unroll
        for (u32 turn = 0; turn < turns; ++turn) is_any = is_any || is_open[turn];
        if (!is_any) break;
        const MapLevel& level = levels.level[of];
        const Code* const codes = codes_of<Code>(level);
        u64 low[turns] = {};
        for (u64 length = level.count; length > 1; length -= length / 2) {
#pragma unroll
            for (u32 turn = 0; turn < turns; ++turn) {
                if (is_open[turn]) low[turn] = halve(codes, low[turn], length, wanted[turn], CodeItself<Code>{}, 0);
            }
        }
#pragma unroll
        for (u32 turn = 0; turn < turns; ++turn) {
            if (!is_open[turn]) continue;
            const u64 at = low[turn] + (codes[low[turn]] < wanted[turn] ? 1 : 0);
            if (at >= level.count || codes[at] != wanted[turn]) continue;
            found[turn] = {of, at};
            is_open[turn] = false;
        }
    }
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = item_of_turn(turn);
        if (i >= count) continue;
        const MapItem item = found[turn];
        const bool is_there = item.level != no_level && !is_tombstone(levels.level[item.level], item.at);
        is_present[i] = is_there ? 1 : 0;
        if (is_there) {
            copy_value(levels.level[item.level].values, item.at, values, i, levels.value_width);
        } else {
            clear_value(values, i, levels.value_width);
        }
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    find_neighbours(const __grid_constant__ MapLevels levels, const Code* keys, u64 count, KeyRule<Code> rule,
                    NeighbourOptions options, Code* neighbours, void* values, u8* is_present) {
    for (u32 turn = 0; turn < turns; ++turn) {
        const u64 i = item_of_turn(turn);
        if (i >= count) continue;
        u64 at[max_levels];
        begin_walk(levels, rule.equal_code(keys[i]), begins_after(options), at);
        const MapItem item = neighbour_of<Code>(levels, at, options);
        is_present[i] = item.level != no_level ? 1 : 0;
        if (item.level != no_level) {
            neighbours[i] = key_of(rule, code_at<Code>(levels, item));
            copy_value(levels.level[item.level].values, item.at, values, i, levels.value_width);
        } else {
            neighbours[i] = 0;
            clear_value(values, i, levels.value_width);
        }
    }
}
