// Finds quotes and dropped bytes in staged text, as bit masks of 32 bytes a word. Both conversion paths use them.
#pragma once

#include "gpu/block/byte_masks.cuh"

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

}  // namespace headrace
