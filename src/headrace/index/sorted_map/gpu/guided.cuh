// Searches a code in all levels by their guide (level.hpp): four levels side by side, so that their reads overlap.
#pragma once
#include "index/sorted_map/level.hpp"

namespace headrace {

// The samples that bound a search: those before `first` are before the code, those from `last` on after it.
struct SampleBounds {
    u64 first;
    u64 last;
};

template <class Code>
HR_FN SampleBounds samples_around(const MapLevels& levels, Code code) {
    const MapLevel& guide = levels.guide;
    const u64 first = rank_in_level(guide, code, 0);
    const bool is_sample = first < guide.count && codes_of<Code>(guide)[first] == code;
    return {first, is_sample ? end_of_run(codes_of<Code>(guide), guide.count, first) : first};
}

// The positions [low, low + length) of four levels, from level `of` on. Missing levels have no positions.
struct FourLevels {
    u32 of;
    u32 low[row_unit];
    u32 length[row_unit];
};

// Returns the positions that samples leave for a code. Items of a level that are equal to the code are among them.
HR_FN FourLevels four_levels(const MapLevels& levels, const SampleBounds& bounds, u32 of) {
    CodeVector<u32> low{}, high;
    if (bounds.first > 0) {
        low = *reinterpret_cast<const CodeVector<u32>*>(positions_of_sample(levels, bounds.first - 1) + of);
    }
    const bool has_last = bounds.last < levels.guide.count;
    if (has_last) high = *reinterpret_cast<const CodeVector<u32>*>(positions_of_sample(levels, bounds.last) + of);
    FourLevels result{of, {}, {}};
#pragma unroll
    for (u32 i = 0; i < row_unit; ++i) {
        if (of + i >= levels.count) continue;
        const u32 end = has_last ? high.code[i] : static_cast<u32>(levels.level[of + i].count);
        result.low[i] = low.code[i];
        result.length[i] = end - low.code[i];
    }
    return result;
}

// Moves `low` of each level to the first item that is not before the code, and `length` with it.
template <class Code>
HR_FN void search_four(const MapLevels& levels, Code code, FourLevels& found) {
    u32 longest = 0, left[row_unit];
#pragma unroll
    for (u32 i = 0; i < row_unit; ++i) {
        left[i] = found.length[i];
        if (left[i] > longest) longest = left[i];
    }
    for (; longest > 0; longest -= (longest + 1) / 2) {
#pragma unroll
        for (u32 i = 0; i < row_unit; ++i) {
            const u32 half = (left[i] + 1) / 2;
            if (half == 0) continue;
            const bool is_before = codes_of<Code>(levels.level[found.of + i])[found.low[i] + half - 1] < code;
            found.low[i] += is_before ? half : 0;
            found.length[i] -= is_before ? half : 0;
            left[i] = is_before ? left[i] - half : half - 1;
        }
    }
}

}  // namespace headrace
