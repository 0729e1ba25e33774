// Looks up automaton steps. The steps of one symbol group from all states form a row of 8 or 16 bytes, held in two or
// four registers. A byte permute (PRMT) picks the step of a state. So two loads serve all states, as in ParPaRaw.
#pragma once
#include "gpu/block/byte_masks.cuh"
#include "gpu/block/warp.cuh"
#include "structure/gpu/dfa_tables.hpp"

namespace headrace::structure {

constexpr u32 no_byte = 256;

// Return four of eight bytes, chosen by selectors.
HR_FN u32 pick(u64 bytes, u32 selectors) {
    return tile::permute(static_cast<u32>(bytes), static_cast<u32>(bytes >> 32), selectors);
}

// The steps of one byte from every state. Only the lowest four bits of `state` count; a step has the next state there.
template <u32 count>
struct Row;
template <>
struct Row<8> {
    u64 bytes;

    HR_MEMBER u32 from(u32 state) const { return pick(bytes, state); }
};
template <>
struct alignas(16) Row<16> {
    u64 low, high;

    HR_MEMBER u32 from(u32 state) const {
        const u32 below = pick(low, state), above = pick(high, state ^ 8);
        return (state & 8) != 0 ? above : below;
    }
};

template <>
struct Row<64> {
    const u16* steps;

    HR_MEMBER u32 from(u32 step) const { return steps[step >> 8]; }
};

// The state that a step leads to; and the step that stands for a state before the first byte.
template <u32 count>
HR_FN u32 state_of(u32 step) {
    return count > 16 ? step >> 8 : step & 15;
}
template <u32 count>
HR_FN u32 step_to(u32 state) {
    return count > 16 ? state << 8 : state;
}

// Range of the tile's bytes that lie in the text.
struct Extent {
    i32 from, to;
};

// DfaTables::group_of and DfaTables::steps in shared memory.
template <u32 count>
struct Steps {
    static constexpr u32 row_bytes = count * (count > 16 ? 2 : 1);
    u8 group_of[272];
    alignas(16) u8 of[33][row_bytes];

    // Return the row of byte k of a word; the byte's position in the tile is `place`. Outside the text it changes
    // nothing.
    template <bool whole>
    HR_MEMBER Row<count> at(u32 word, u32 k, Extent extent, i32 place) const {
        const bool is_text = whole || (place >= extent.from && place < extent.to);
        const u8* const row = of[group_of[is_text ? word >> (k * 8) & 0xFF : no_byte]];
        if constexpr (count > 16) {
            return {reinterpret_cast<const u16*>(row)};
        } else {
            return *reinterpret_cast<const Row<count>*>(row);
        }
    }
};

// Translate 16 bytes of a text with lenient quotes for the tables. Quotes that open no field (`marks`, a bit each)
// become `spare`, and bytes equal to `spare` become `other`.
HR_FN uint4 with_spares(uint4 bytes, u32 marks, u32 spare, u32 other) {
    u32 words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        words[k] ^= (tile::equals(words[k], tile::repeated(spare)) >> 7) * (spare ^ other);
        // Bit i of four moves to bit 8 i, and fills its byte.
        const u32 unreal = ((marks >> (k * 4) & 15) * 0x00204081 & 0x01010101) * 0xFF;
        words[k] = (words[k] & ~unreal) | (tile::repeated(spare) & unreal);
    }
    return {words[0], words[1], words[2], words[3]};
}

}  // namespace headrace::structure
