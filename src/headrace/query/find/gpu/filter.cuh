// Finds the positions of a vector of 16 bytes of text where a pattern may occur, by operations on words of 4 bytes.
// HR_FORM names the method by a length of patterns that it takes, the greatest up to 4, and the least from 5 on:
//
//   1, 2, 4   All bytes of the pattern are compared, each at four positions at once. The result is exact.
//   5, 8      A window of 4 or 8 bytes at each position has a fingerprint modulo 2^32, `first * factor + second` for
//             two words (Karp and Rabin; Ashkiani 2017, section 2.3.3). Different units of a processor compute
//             multiplications and comparisons.
//   15, 19    A window of 12 or 16 bytes at each aligned word alone. Every occurrence has such a window at one of four
//             offsets of the pattern. A word is compared with four fingerprints, and no bytes are shifted.
//
// A position of the result is the begin of the occurrence plus `lead`. The forms 15 and 19 have windows at the offsets
// o to o + 3 of the pattern, and `lead` is o + 3. So the window at o + j at word q is bit 4 q + 3 - j.
// Operations per position: 1.5 to 3 for the forms from 5 on.
#pragma once
#include "gpu/block/byte_masks.cuh"
#include "query/find/gpu/rows.cuh"
#include "query/find/pattern/window.hpp"

namespace headrace {

constexpr u32 form = HR_FORM;
constexpr bool is_exact = form <= 4;
constexpr bool at_words = form >= 15;
constexpr u32 window_words = form < 8 ? 1 : form == 8 ? 2 : form == 15 ? 3 : 4;
// Words of text that are needed after the vector.
constexpr u32 words_ahead = form == 1 ? 0 : at_words ? window_words - 1 : window_words;

using Words = TextWords<words_ahead>;

HR_FN u32 short_hits(const FindTask& task, const Words& text) {
    tile::Bits bits;
#pragma unroll
    for (u32 q = 0; q < 4; ++q) {
        u32 unlike = 0;
#pragma unroll
        for (u32 i = 0; i < form; ++i) unlike |= (text.window(4 * q + i) & task.compared[i]) ^ task.prints[i];
        bits.word[q] = tile::equals(unlike, 0);
    }
    return tile::gather(bits);
}

// Fingerprint of the window at byte `at`.
HR_FN u32 print_at(const Words& text, u32 at) {
    u32 print = text.window(at);
#pragma unroll
    for (u32 i = 1; i < window_words; ++i) print = next_print(print, text.window(at + 4 * i));
    return print;
}

HR_FN u32 window_hits(const FindTask& task, const Words& text) {
    constexpr u32 step = at_words ? 4 : 1;
    u32 prints[16 / step];
    bool found = false;
#pragma unroll
    for (u32 i = 0; i < 16 / step; ++i) {
        prints[i] = print_at(text, i * step);
#pragma unroll
        for (u32 j = 0; j < step; ++j) found |= prints[i] == task.prints[j];
    }
    if (!found) return 0;
    u32 hits = 0;
#pragma unroll
    for (u32 i = 0; i < 16 / step; ++i) {
#pragma unroll
        for (u32 j = 0; j < step; ++j)
            hits |= static_cast<u32>(prints[i] == task.prints[j]) << (i * step + step - 1 - j);
    }
    return hits;
}

// Returns a bit for each of the 16 positions.
HR_FN u32 possible_hits(const FindTask& task, Words text) {
    if constexpr (is_exact) {
        return short_hits(task, text);
    } else {
#pragma unroll
        for (u32 i = 0; i < Words::count; ++i) text.word[i] |= task.letter_bits;
        return window_hits(task, text);
    }
}

}  // namespace headrace
