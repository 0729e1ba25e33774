// Ranks of samples, the items at each multiple of a stride of each level, in all levels.
#pragma once
#include "gpu/block/warp.cuh"
#include "index/sorted_map/gpu/cut_task.hpp"

namespace headrace {

// Returns the same as rank_of in half as many dependent reads: a step reads three codes.
template <class Code>
HR_FN u64 rank_by_quarters(const Code* codes, u64 count, Code code, u32 after_equal) {
    u64 low = 0, length = count;
    while (length >= 4) {
        const u64 quarter = length / 4;
        u32 before = 0;
#pragma unroll
        for (u32 i = 1; i <= 3; ++i) before += is_before(codes[low + i * quarter - 1], code, after_equal) ? 1 : 0;
        low += before * quarter;
        length = before == 3 ? length - 3 * quarter : quarter - 1;
    }
    u32 before = 0;
    for (u32 i = 0; i < length; ++i) before += is_before(codes[low + i], code, after_equal) ? 1 : 0;
    return low + before;
}

// Returns the position in level `of` of the first item that the item `at` of level `own` is merged before.
template <class Code>
HR_FN u64 rank_of_item(const MapLevels& levels, u32 own, u64 at, u32 of) {
    const Code code = codes_of<Code>(levels.level[own])[at];
    return own == of
               ? at
               : rank_by_quarters(codes_of<Code>(levels.level[of]), levels.level[of].count, code, of < own ? 1 : 0);
}

// A sample: its level and its number there. No sample if `own` is the number of levels.
struct Sample {
    u32 own;
    u64 number;
};

// Returns sample `number` of all levels, newest level first.
HR_FN Sample sample_of(const MapLevels& levels, u64 stride, u64 number) {
    Sample result{0, number};
    while (result.own < levels.count && result.number >= samples_of(levels.level[result.own].count, stride)) {
        result.number -= samples_of(levels.level[result.own].count, stride);
        ++result.own;
    }
    return result;
}

}  // namespace headrace
