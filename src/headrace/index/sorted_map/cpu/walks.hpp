// Begins several walks through the levels side by side, so that their cache misses overlap.
#pragma once
#include <algorithm>

#include "core/cpu/cache_blocks.hpp"
#include "index/sorted_map/level.hpp"

namespace headrace {

constexpr u32 walk_lanes = 16;

template <class Code>
struct Walks {
    u64 at[walk_lanes][max_levels];

    // Begins walks at up to 16 codes, as begin_walk of level.hpp.
    void begin(const MapLevels& levels, const Code* codes, u32 count, u32 after_equal) {
        for (u32 i = 0; i < levels.count; ++i) {
            const Code* const sorted = codes_of<Code>(levels.level[i]);
            u64 low[walk_lanes] = {};
            for (u64 length = levels.level[i].count; length > 1; length -= length / 2) {
                for (u32 lane = 0; lane < count; ++lane) {
                    low[lane] = halve(sorted, low[lane], length, codes[lane], CodeItself<Code>{}, after_equal);
                }
            }
            for (u32 lane = 0; lane < count; ++lane) {
                at[lane][i] = low[lane] + (is_before(sorted[low[lane]], codes[lane], after_equal) ? 1 : 0);
            }
        }
    }
};

// Calls work(state, first, number) for each group of up to 16 of `count` keys, in parallel. `bytes`: bytes moved per
// key. `begin` makes a thread's state.
template <class Begin, class Work>
void for_each_group(u64 count, u64 bytes, unsigned threads, const Begin& begin, const Work& work) {
    const Pieces pieces(count, bytes);
    const auto groups = [&](auto& state, u64 piece) {
        const u64 end = pieces.begin(piece) + pieces.size(piece);
        for (u64 first = pieces.begin(piece); first < end; first += walk_lanes) {
            work(state, first, static_cast<u32>(std::min<u64>(walk_lanes, end - first)));
        }
    };
    for_each_piece(pieces.number(), threads, begin, groups);
}

template <class Work>
void for_each_group(u64 count, u64 bytes, unsigned threads, const Work& work) {
    const auto none = [] { return 0; };
    for_each_group(count, bytes, threads, none, [&](int, u64 first, u32 number) { work(first, number); });
}

}  // namespace headrace
