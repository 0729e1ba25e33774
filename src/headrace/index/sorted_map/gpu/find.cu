// Searches keys and their neighbours in all levels, newest level first, a thread for each key. A key leaves the search
// at the first level that has it. Ascending keys are searched by the guide, if there is one.
//
// Bytes moved per key of width w: w, the result, and for each node of 8 codes that is not in a cache 8 w.
#include "gpu/block/dependent_launch.cuh"
#include "gpu/block/warp.cuh"
#include "index/sorted_map/gpu/guided.cuh"

using namespace headrace;

using Code = HR_CODE;
constexpr u32 threads = HR_THREADS;

HR_FN u64 item_of_thread() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

HR_FN bool are_ascending(Code code) {
    const Code before = tile::shuffle_up(code, 1);
    return __all_sync(tile::all_lanes, tile::lane() == 0 || before <= code) != 0;
}

// Returns the item that decides about a code; no level if there is none.
HR_FN MapItem item_of_code(const MapLevels& levels, Code code) {
    const u64 hash = mix_bits(static_cast<u64>(code));
    u64 candidates = 0;  // levels that may have the code; their filters are read side by side
#pragma unroll 4
    for (u32 of = 0; of < levels.count; ++of) candidates |= static_cast<u64>(may_have(levels.level[of], hash)) << of;
    for (; candidates != 0; candidates &= candidates - 1) {
        const u32 of = static_cast<u32>(trailing_zeros(candidates));
        const MapLevel& level = levels.level[of];
        const u64 at = rank_in_level(level, code, 0);
        if (at < level.count && codes_of<Code>(level)[at] == code) return {of, at};
    }
    return {no_level, 0};
}

// Returns the same by the guide.
HR_FN MapItem item_by_guide(const MapLevels& levels, Code code) {
    const SampleBounds bounds = samples_around(levels, code);
    for (u32 of = 0; of < levels.count; of += row_unit) {
        FourLevels found = four_levels(levels, bounds, of);
        search_four(levels, code, found);
        bool is_equal[row_unit];
#pragma unroll
        for (u32 i = 0; i < row_unit; ++i) {
            is_equal[i] = found.length[i] > 0 && codes_of<Code>(levels.level[of + i])[found.low[i]] == code;
        }
#pragma unroll
        for (u32 i = 0; i < row_unit; ++i) {
            if (is_equal[i]) return {of + i, found.low[i]};
        }
    }
    return {no_level, 0};
}

extern "C" __global__ void __launch_bounds__(threads)
    find_keys(const __grid_constant__ MapLevels levels, const Code* keys, u64 count, KeyRule<Code> rule, void* values,
              u8* is_present) {
    tile::wait_for_launch_before();
    const u64 i = item_of_thread();
    const Code code = i < count ? rule.equal_code(keys[i]) : static_cast<Code>(~Code{0});
    // Reads of the guide are shared by the lanes of a warp if keys ascend. Others read fewer sectors by fences.
    const bool is_guided = levels.guide.codes != nullptr && are_ascending(code);
    if (i >= count) return;
    const MapItem item = is_guided ? item_by_guide(levels, code) : item_of_code(levels, code);
    const bool is_pair = item.level != no_level && !is_tombstone(levels.level[item.level], item.at);
    is_present[i] = is_pair ? 1 : 0;
    if (is_pair) {
        copy_value(levels.level[item.level].values, item.at, values, i, levels.value_width);
    } else {
        clear_value(values, i, levels.value_width);
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    find_neighbours(const __grid_constant__ MapLevels levels, const Code* keys, u64 count, KeyRule<Code> rule,
                    NeighbourOptions options, Code* neighbours, void* values, u8* is_present) {
    const u64 i = item_of_thread();
    if (i >= count) return;
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
