// Finds quotes and dropped bytes in staged text, as bit masks of 32 bytes a word. Both conversion paths use them.
#pragma once

#include "gpu/block/byte_masks.cuh"
#include "gpu/block/warp.cuh"

namespace headrace {

// Returns the quotes of a word that are not part of their field's text. `inside`: bytes inside quotes, including
// opening quotes. If quotes may be doubled, an opening quote directly after a closing one is text. `closing_before`:
// the byte before the word is a closing quote.
HR_FN u32 dropped_quotes(u32 quotes, u32 inside, bool doubles, u32 closing_before) {
    const u32 opening = quotes & inside, closing = quotes & ~inside;
    return doubles ? quotes & ~(opening & (closing << 1 | closing_before)) : quotes;
}

// Returns the number of set bits for staged bytes [0, at). `before`: number of set bits in all words before each.
HR_FN u32 bits_until(const u32* bits, const u16* before, u32 at) {
    return before[at / 32] + static_cast<u32>(__popc(bits[at / 32] & low_mask(at % 32)));
}

// Stores a string offset of 32 or 64 bits.
HR_FN void store_offset(void* offsets, bool is_long, u64 row, u64 value) {
    if (is_long) {
        *tile::in_global(static_cast<u64*>(offsets) + row) = value;
    } else {
        *tile::in_global(static_cast<u32*>(offsets) + row) = static_cast<u32>(value);
    }
}

// Stores bytes [skew, size) of a stream, whose word 0 belongs at `to`, a multiple of 4. `skew` is less than 4.
HR_FN void put_stream(const u8* stream, u8* to, u32 skew, u32 size) {
    const u32 whole = size & ~3u, lane = tile::lane();
#pragma unroll 1
    for (u32 at = 4 * (lane + (skew != 0 ? 1 : 0)); at < whole; at += 4 * tile::lanes) {
        *tile::in_global(reinterpret_cast<u32*>(to + at)) = *reinterpret_cast<const u32*>(stream + at);
    }
    // Bytes of the partial words at both ends, one per lane.
    const u32 at = lane < 4 ? lane : whole + lane - 4;
    const bool in_first_word = lane < 4 && skew != 0 && at >= skew,
               in_last_word = lane - 4 < 4 && (whole != 0 || skew == 0);
    if ((in_first_word || in_last_word) && at < size) *tile::in_global(to + at) = stream[at];
}

}  // namespace headrace
