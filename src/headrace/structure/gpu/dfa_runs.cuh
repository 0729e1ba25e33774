// Runs a chunk from all states at once, which gives its state map (ParPaRaw, section 3.1). After 16 bytes the runs have
// usually converged to at most count / 4 distinct states, or one more; from there on only those are stepped.
#pragma once
#include "structure/gpu/dfa_rows.cuh"

namespace headrace::structure {

// A map under construction. 8 states: one byte-permute selector a state, four in each register. 16 states: four bits a
// state. `nibbles` gives the common form of four bits a state, in which maps are composed and stored.
template <u32 count>
struct Map;
template <>
struct Map<8> {
    u32 low = 0x3210, high = 0x7654;

    HR_MEMBER void step(const Row<8>& row) {
        low = tile::selectors_of(pick(row.bytes, low));
        high = tile::selectors_of(pick(row.bytes, high));
    }
    HR_MEMBER u64 nibbles() const {
        return (low & 0xFFFF) | (high & 0xFFFF) << 16 | static_cast<u64>(0xFEDCBA98) << 32;
    }
};
template <>
struct Map<16> {
    u64 states = ComposeStates::identity();

    HR_MEMBER void step(const Row<16>& row) {
        u64 next = 0;
#pragma unroll
        for (u32 shift = 0; shift < 64; shift += 4)
            next |= static_cast<u64>(row.from(static_cast<u32>(states >> shift) & 15) & 15) << shift;
        states = next;
    }
    HR_MEMBER u64 nibbles() const { return states; }
};

// Composes maps of 8 states with byte permutes, each of which looks up 4 of 8 bytes.
struct ComposeEight {
    using Item = u64;
    HR_MEMBER static u64 identity() { return ComposeStates::identity(); }
    HR_MEMBER static u64 join(u64 a, u64 b) {
        const u32 of = static_cast<u32>(b);
        const u64 bytes = static_cast<u64>(of & 0x0F0F0F0F) | static_cast<u64>(of >> 4 & 0x0F0F0F0F) << 32;
        // Byte i of `bytes` belongs to state 2 i for i < 4, and to state 2 (i - 4) + 1 after that; `spread` is in
        // order.
        const u64 spread = static_cast<u64>(pick(bytes, 0x5140)) | static_cast<u64>(pick(bytes, 0x7362)) << 32;
        const u32 low = tile::selectors_of(pick(spread, static_cast<u32>(a)));
        const u32 high = tile::selectors_of(pick(spread, static_cast<u32>(a) >> 16));
        return (low & 0xFFFF) | (high & 0xFFFF) << 16 | static_cast<u64>(0xFEDCBA98) << 32;
    }
};

// The distinct states that a map leads to, if there are at most `most`, and the slot of each start state.
template <u32 count, u32 most>
struct Few {
    u32 state[most];
    u32 which = 0;  // slot of each start state, two bits each
    bool enough;    // `most` slots suffice

    HR_MEMBER explicit Few(u64 map) {
        u32 left = (1u << count) - 1;
#pragma unroll
        for (u32 slot = 0; slot < most; ++slot) {
            const u32 first = left == 0 ? 0 : static_cast<u32>(__ffs(static_cast<i32>(left))) - 1;
            state[slot] = static_cast<u32>(map >> (first * 4)) & 15;
#pragma unroll
            for (u32 i = 0; i < count; ++i) {
                const bool here = (left >> i & 1) != 0 && (static_cast<u32>(map >> (i * 4)) & 15) == state[slot];
                if (here) which |= slot << (i * 2);
                if (here) left &= ~(1u << i);
            }
        }
        enough = left == 0;
    }
    HR_MEMBER u64 nibbles() const {
        u64 map = ComposeStates::identity();
#pragma unroll
        for (u32 i = 0; i < count; ++i) {
            u32 found = state[0];
#pragma unroll
            for (u32 slot = 1; slot < most; ++slot) found = (which >> (i * 2) & 3) == slot ? state[slot] : found;
            map ^= static_cast<u64>((found & 15) ^ i) << (i * 4);
        }
        return map;
    }
};

// Run the chunk's vectors after the first one from the distinct states of all lanes, if these are few. Return whether
// that is so, and the state map.
template <u32 most, bool whole, u32 rows, u32 count>
HR_FN bool run_few(const uint4* chunk, const Steps<count>& steps, Extent extent, u64& map) {
    Few<count, most> few(map);
    if (!__all_sync(tile::all_lanes, few.enough)) return false;
    const i32 begin = static_cast<i32>(threadIdx.x * rows * 16);
#pragma unroll HR_UNROLL
    for (u32 row = 1; row < rows; ++row) {
        const uint4 vector = chunk[row];
        const u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
        const i32 place = begin + static_cast<i32>(row * 16);
#pragma unroll
        for (u32 k = 0; k < 16; ++k) {
            const i32 at = place + static_cast<i32>(k);
            const Row<count> step = steps.template at<whole>(words[k / 4], k % 4, extent, at);
#pragma unroll
            for (u32 slot = 0; slot < most; ++slot) few.state[slot] = step.from(few.state[slot]);
        }
    }
    map = few.nibbles();
    return true;
}

// Extend a map by 16 bytes at `place` of the tile.
template <bool whole, u32 count>
HR_FN void map_vector(Map<count>& map, const uint4& vector, const Steps<count>& steps, Extent extent, i32 place) {
    const u32 words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (u32 k = 0; k < 16; ++k)
        map.step(steps.template at<whole>(words[k / 4], k % 4, extent, place + static_cast<i32>(k)));
}

// Return the state map of a chunk of `rows` vectors. The first vector runs from every state. If all lanes then have few
// distinct states (usually inside quotes, outside, and in a comment), only those run through the rest.
template <bool whole, u32 rows, u32 count>
HR_FN u64 map_of(const uint4* chunk, const Steps<count>& steps, Extent extent) {
    Map<count> map;
    const auto run_all = [&](u32 row) {
        map_vector<whole>(map, chunk[row], steps, extent, static_cast<i32>((threadIdx.x * rows + row) * 16));
    };
    run_all(0);
    u64 found = map.nibbles();
    if (run_few<count / 4, whole, rows>(chunk, steps, extent, found)) return found;
    if constexpr (count == 8) {
        if (run_few<3, whole, rows>(chunk, steps, extent, found)) return found;
    }
#pragma unroll 1
    for (u32 row = 1; row < rows; ++row) run_all(row);
    return map.nibbles();
}

// Automata of up to 64 states have one byte a state. A thread runs its chunk's first 16 bytes from every state, and the
// rest from the distinct states that are left. This is much slower and only serves rare dialects, whose separators or
// line ends have many bytes.
constexpr u32 wide_states = 64;
constexpr u32 wide_pitch = wide_states + 4;  // avoids bank conflicts between threads' maps

HR_FN u32 run_row(const uint4& vector, const Steps<wide_states>& steps, u32 state, Extent extent, i32 place) {
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

}  // namespace headrace::structure
