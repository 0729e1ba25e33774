// Runs of an automaton of at most eight states: from every state at once, or from two. A step of all states is one
// entry of a table; eight states are looked up in it by two byte permutations (PRMT), four by each.
#pragma once
#include "core/tile/bytes.cuh"
#include "core/tile/warp.cuh"
#include "structure/step_tables.hpp"

namespace headrace {
namespace structure {

constexpr u32 no_byte = 256;

// Four of the eight bytes.
__device__ __forceinline__ u32 pick(u64 bytes, u32 selectors) {
    return tile::permute(static_cast<u32>(bytes), static_cast<u32>(bytes >> 32), selectors);
}

// Bytes of the tile that are the text's.
struct Extent {
    i32 from, to;
};

// The step table in shared memory.
struct Steps {
    u64 of[257];

    // Of byte k of a word, which stands at `place` of the tile.
    template <bool whole>
    __device__ __forceinline__ u64 at(u32 word, u32 k, Extent extent, i32 place) const {
        const u32 offset = (k == 0 ? word << 3 : word >> (k * 8 - 3)) & 0x7F8;
        if (!whole && (place < extent.from || place >= extent.to)) return of[no_byte];
        return *reinterpret_cast<const u64*>(reinterpret_cast<const u8*>(of) + offset);
    }
};

// A map of states while it is made: four selectors a register, or, once no more than two states are told apart, those
// two and which states are in the second.
struct Map {
    u32 low = 0x3210, high = 0x7654;

    __device__ __forceinline__ u64 states() const {
        constexpr u64 all = 0x0706050403020100;
        return pick(all, low) | static_cast<u64>(pick(all, high)) << 32;
    }
};

struct Pair {
    u32 first, second;
    u64 in_second;  // bytes of ones
    bool enough;

    __device__ __forceinline__ explicit Pair(u64 states) {
        const u64 others = states ^ static_cast<u64>(states & 7) * 0x0101010101010101;
        const u32 shift = others == 0 ? 0 : static_cast<u32>(trailing_zeros(others)) / 8 * 8;
        first = static_cast<u32>(states & 7);
        second = static_cast<u32>(states >> shift & 7);
        in_second = bytes_set(others);
        enough = (in_second & bytes_set(states ^ static_cast<u64>(second) * 0x0101010101010101)) == 0;
    }
    __device__ __forceinline__ u64 states() const {
        const u64 all_first = static_cast<u64>(first & 7) * 0x0101010101010101;
        const u64 all_second = static_cast<u64>(second & 7) * 0x0101010101010101;
        return (all_first & ~in_second) | (all_second & in_second);
    }
    // Ones in each byte that is not 0; all are below 8.
    static __device__ __forceinline__ u64 bytes_set(u64 bytes) {
        const u64 set = (bytes | bytes >> 1 | bytes >> 2) & 0x0101010101010101;
        return set * 255;
    }
};

// Runs 16 bytes from every state, or from two.
template <bool whole>
__device__ __forceinline__ void run_all(Map& map, uint4 vector, const Steps& steps, Extent extent, i32 place) {
    const u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (u32 k = 0; k < 16; ++k) {
        const u64 step = steps.at<whole>(words[k / 4], k % 4, extent, place + static_cast<i32>(k));
        map.low = tile::selectors_of(pick(step, map.low));
        map.high = tile::selectors_of(pick(step, map.high));
    }
}
template <bool whole>
__device__ __forceinline__ void run_two(Pair& pair, uint4 vector, const Steps& steps, Extent extent, i32 place) {
    const u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (u32 k = 0; k < 16; ++k) {
        const u64 step = steps.at<whole>(words[k / 4], k % 4, extent, place + static_cast<i32>(k));
        pair.first = pick(step, pair.first);
        pair.second = pick(step, pair.second);
    }
}

// The chunk's map of states. After a few bytes the states that are told apart are mostly two, inside quotes and
// outside.
template <bool whole, u32 rows>
__device__ __forceinline__ u64 map_of(const uint4* chunk, const Steps& steps, Extent extent) {
    Map map;
    i32 place = static_cast<i32>(threadIdx.x * rows * 16);
    run_all<whole>(map, chunk[0], steps, extent, place);
    Pair pair(map.states());
    if (__all_sync(tile::all_lanes, pair.enough)) {
#pragma unroll HR_UNROLL
        for (u32 row = 1; row < rows; ++row) run_two<whole>(pair, chunk[row], steps, extent, place += 16);
        return pair.states();
    }
#pragma unroll 1
    for (u32 row = 1; row < rows; ++row) run_all<whole>(map, chunk[row], steps, extent, place += 16);
    return map.states();
}

}  // namespace structure
}  // namespace headrace
