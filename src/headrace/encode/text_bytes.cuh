// Loads bytes of a text as words, by aligned accesses. NVRTC would load a word of a text byte by byte.
//
// Example "x,Joan of Arc" to byte 3, eight bytes: the words "x,Jo", "an o" and "f Ar" become "oan " and "of A".
#pragma once

#include "encode/texts_task.hpp"

namespace headrace {

// Loads the first `size` bytes of the text at byte `begin`, at most 4 * count, followed by zeros. `end`: of all texts.
// Only words with a byte of the text are loaded; at the edges of the buffer single bytes are.
template <u32 count>
HR_FN void load_first(const PlainTexts& texts, u64 begin, u32 size, u64 end, u32 (&words)[count]) {
    const u8* const from = texts.bytes + begin;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(from) % 4), until = skew + size;
    u32 loaded[count + 1] = {};
    if (skew <= begin && begin + 4 * (count + 1) <= end) {
        const u32* const aligned = reinterpret_cast<const u32*>(from - skew);
#pragma unroll
        for (u32 k = 0; k <= count; ++k) {
            if (4 * k < until) loaded[k] = aligned[k];
        }
    } else {
#pragma unroll
        for (u32 i = 0; i < 4 * (count + 1); ++i) {
            if (i >= skew && i < until) loaded[i / 4] |= u32{from[i - skew]} << (8 * (i % 4));
        }
    }
#pragma unroll
    for (u32 k = 0; k < count; ++k) {
        const u32 own = size > 4 * k ? size - 4 * k : 0;
        const u32 mask = own < 4 ? (1u << (8 * own)) - 1 : ~0u;
        words[k] = __funnelshift_r(loaded[k], loaded[k + 1], 8 * skew) & mask;
    }
}

// Returns the eight bytes of a text at byte `at`. `end`: of all texts.
HR_FN u64 word_at(const PlainTexts& texts, u64 at, u64 end) {
    const u8* const from = texts.bytes + at;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(from) % 4);
    if (skew > at || at + 12 > end) return load_word(from);
    const u32* const aligned = reinterpret_cast<const u32*>(from - skew);
    const u32 middle = aligned[1];
    return u64{__funnelshift_r(middle, aligned[2], 8 * skew)} << 32 | __funnelshift_r(aligned[0], middle, 8 * skew);
}

}  // namespace headrace
