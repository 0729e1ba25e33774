// Gathers the codes of a short range from all levels in shared memory, a thread for each range. A code is stored once,
// for the item that decides about it: levels are read from the newest to the oldest.
#pragma once
#include "index/sorted_map/gpu/guided.cuh"

namespace headrace {

// Maximum number of codes of a short range, and of items that are read for it.
template <class Code>
constexpr u32 short_codes = sizeof(Code) == 4 ? 20 : 14;
constexpr u32 short_items = 64;

// Codes of the ranges of a block: code k of a thread is code[k][threadIdx.x].
template <class Code, u32 threads>
struct ShortRanges {
    Code code[short_codes<Code>][threads];
};

// Calls visit(number, item) for the item that decides about each code of a range. Returns the number of codes; -1 if
// the range is not short.
template <class Code, u32 threads, class Visit>
HR_FN i32 gather_codes(const MapLevels& levels, const CodeRange<Code>& range, ShortRanges<Code, threads>& gathered,
                       const Visit& visit) {
    const SampleBounds bounds = samples_around(levels, range.low);
    u32 count = 0, items = 0;
    for (u32 of = 0; of < levels.count; of += row_unit) {
        FourLevels found = four_levels(levels, bounds, of);
        search_four(levels, range.low, found);
        Code next[row_unit];  // read side by side
#pragma unroll
        for (u32 i = 0; i < row_unit; ++i) {
            if (of + i < levels.count && found.low[i] < levels.level[of + i].count) {
                next[i] = codes_of<Code>(levels.level[of + i])[found.low[i]];
            }
        }
#pragma unroll
        for (u32 i = 0; i < row_unit; ++i) {
            if (of + i >= levels.count) continue;
            const MapLevel& level = levels.level[of + i];
            for (u64 at = found.low[i]; at < level.count; ++at) {
                const Code code = at == found.low[i] ? next[i] : codes_of<Code>(level)[at];
                if (code > range.high) break;
                bool is_known = false;
                for (u32 k = 0; k < count; ++k) is_known = is_known || gathered.code[k][threadIdx.x] == code;
                if (++items > short_items || (!is_known && count == short_codes<Code>)) return -1;
                if (is_known) continue;
                gathered.code[count][threadIdx.x] = code;
                visit(count, MapItem{of + i, at});
                ++count;
            }
        }
    }
    return static_cast<i32>(count);
}

}  // namespace headrace
