// Finds quotes and dropped bytes in staged text, as bit masks of 32 bytes a word, and stores strings. Both conversion
// paths use them.
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

// Strings that lanes copy one after the other to a stream in shared memory. A word of it may have bytes of several
// lanes. The lane of its first byte stores it whole (put_words), before the others store their bytes (put_first_bytes).

// A string in the words of the stream: bytes [skew, until) from the word at byte `slot` on.
struct StreamWords {
    u32 slot, skew, until;
};

HR_FN StreamWords stream_words(u32 to, u32 n) {
    const u32 skew = to % 4;
    return {to - skew, skew, skew + n};
}

// Stores the words whose first byte is one of the string's, each from two words of the staged text. The last may have
// further bytes. Returns the word before them, for put_first_bytes. Example "x,Joan of Arc" to byte 3: "oan ", "of A",
// and "rc" with two others; "?x,J" is returned.
HR_FN u32 put_words(const u32* text, u8* stream, u32 from, const StreamWords& own) {
    const u32 begin = from - own.skew, shift = 8 * begin;
    const u32* next = text + begin / 4;
    u32 low = *next++, high = *next++;
    const u32 first = __funnelshift_r(low, high, shift);
    if (own.skew == 0 && own.until != 0) *reinterpret_cast<u32*>(stream + own.slot) = first;
#pragma unroll 1
    for (u32 at = 4; at < own.until; at += 4) {
        low = high;
        high = *next++;
        *reinterpret_cast<u32*>(stream + own.slot + at) = __funnelshift_r(low, high, shift);
    }
    return first;
}

// Stores those of the string's bytes that precede these words: "J".
HR_FN void put_first_bytes(u8* stream, u32 first, const StreamWords& own) {
#pragma unroll
    for (u32 k = 1; k < 4; ++k) {
        if (own.skew != 0 && k >= own.skew && k < own.until) stream[own.slot + k] = static_cast<u8>(first >> (8 * k));
    }
}

}  // namespace headrace
