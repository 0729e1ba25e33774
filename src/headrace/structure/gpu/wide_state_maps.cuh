// Computes the state map of a chunk for an automaton of up to 64 states, one byte a state. A thread runs its chunk's
// first 16 bytes from every state, and the rest from the distinct states that are left. This is much slower than
// dfa_runs.cuh and only serves rare dialects, whose separators or line ends have many bytes.
#pragma once
#include "structure/gpu/dfa_rows.cuh"

namespace headrace {
namespace structure {

constexpr u32 wide_states = 64;
constexpr u32 wide_pitch = wide_states + 4;  // avoids bank conflicts between threads' maps

__device__ __forceinline__ u32 run_row(const uint4& vector, const Steps<wide_states>& steps, u32 state, Extent extent,
                                       i32 place) {
    const u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
    u32 step = step_to<wide_states>(state);
#pragma unroll
    for (u32 k = 0; k < 16; ++k)
        step = steps.at<false>(words[k / 4], k % 4, extent, place + static_cast<i32>(k)).from(step);
    return state_of<wide_states>(step);
}

// Compute the map of the thread's chunk of `rows` vectors.
__device__ inline void map_chunk(const uint4* chunk, u32 rows, const Steps<wide_states>& steps, Extent extent,
                                 u8* map) {
    const i32 begin = static_cast<i32>(threadIdx.x * rows * 16);
    u8 live[wide_states];
    u32 count = 0;
#pragma unroll 1
    for (u32 state = 0; state < wide_states; ++state) {
        const u8 reached = static_cast<u8>(run_row(chunk[0], steps, state, extent, begin));
        u32 slot = 0;
        while (slot < count && live[slot] != reached) ++slot;
        if (slot == count) live[count++] = reached;
        map[state] = static_cast<u8>(slot);
    }
#pragma unroll 1
    for (u32 slot = 0; slot < count; ++slot) {
        u32 state = live[slot];
#pragma unroll 1
        for (u32 row = 1; row < rows; ++row)
            state = run_row(chunk[row], steps, state, extent, begin + static_cast<i32>(row * 16));
        live[slot] = static_cast<u8>(state);
    }
    for (u32 state = 0; state < wide_states; ++state) map[state] = live[map[state]];
}

}  // namespace structure
}  // namespace headrace
