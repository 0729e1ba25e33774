// Searches a code in levels by two lanes, which each read half of a node. Random searches are bound by the lines that a
// read of a warp touches. A node of one sector is then one read instead of two.
#pragma once
#include "gpu/block/warp.cuh"
#include "index/sorted_map/level.hpp"

namespace headrace {

// Returns the number of codes of a whole node that are smaller, to both lanes.
template <class Code>
__device__ __forceinline__ u32 rank_in_node_of_pair(const Code* node, Code code) {
    constexpr u32 half = node_codes / 2;
    const Code* const own = node + (tile::lane() % 2) * half;
    u32 found = 0;
#pragma unroll
    for (u32 i = 0; i < half; i += CodeVector<Code>::count) {
        const CodeVector<Code> vector = *reinterpret_cast<const CodeVector<Code>*>(own + i);
        for (u32 k = 0; k < CodeVector<Code>::count; ++k) found += vector.code[k] < code ? 1 : 0;
    }
    return found + __shfl_xor_sync(3u << (tile::lane() & ~1u), found, 1);
}

// Returns the number of codes of a level before `code`, to both lanes: rank_in_level by pairs.
template <class Code>
__device__ __forceinline__ u64 rank_of_pair(const MapLevel& level, Code code) {
    const Code* const codes = codes_of<Code>(level);
    if (level.fences == nullptr) return rank_of(codes, level.count, code, 0);
    const Code* row = static_cast<const Code*>(level.fences);
    u64 node = 0;
    for (u64 shift = level.fence_shift; shift > 0; shift -= fence_bits) {
        const u64 fences = fences_of_row(level.count, shift);
        node = node * node_codes + rank_in_node_of_pair(row + node * node_codes, code);
        if (node >= fences) return level.count;  // all codes are smaller
        row += whole_nodes(fences);
    }
    const u64 first = node * node_codes;
    if (level.count - first >= node_codes) return first + rank_in_node_of_pair(codes + first, code);
    return first + rank_of(codes + first, level.count - first, code, 0);
}

// Returns the item that decides about a code, to both lanes; no level if there is none.
template <class Code>
__device__ __forceinline__ MapItem item_of_pair(const MapLevels& levels, Code code) {
    for (u32 of = 0; of < levels.count; ++of) {
        const MapLevel& level = levels.level[of];
        const u64 at = rank_of_pair(level, code);
        if (at < level.count && codes_of<Code>(level)[at] == code) return {of, at};
    }
    return {no_level, 0};
}

}  // namespace headrace
