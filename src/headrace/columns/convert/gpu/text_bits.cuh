// Bits of staged text, 32 bytes a word, that both conversions read: quotes, and what is left out of fields' text.
#pragma once

#include "gpu/block/byte_masks.cuh"

namespace headrace {

// Of a word's quotes those that are no part of their field's text. A quote is inside if it opens; where quotes are
// doubled, one that opens behind one that closes is text. `closing_before`: the byte before the word's first closes.
HR_FN u32 dropped_quotes(u32 quotes, u32 inside, bool doubles, u32 closing_before) {
    const u32 opening = quotes & inside, closing = quotes & ~inside;
    return doubles ? quotes & ~(opening & (closing << 1 | closing_before)) : quotes;
}

// Bits of staged bytes [0, at): `before` counts those in all words before each.
HR_FN u32 bits_until(const u32* bits, const u16* before, u32 at) {
    return before[at / 32] + static_cast<u32>(__popc(bits[at / 32] & low_mask(at % 32)));
}

// An offset of strings, of 32 or 64 bits.
HR_FN void store_offset(void* offsets, bool is_long, u64 row, u64 value) {
    if (is_long) {
        static_cast<u64*>(offsets)[row] = value;
    } else {
        static_cast<u32*>(offsets)[row] = static_cast<u32>(value);
    }
}

}  // namespace headrace
