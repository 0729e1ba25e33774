// Validates UTF-8 four bytes at a time and without branches, where columns/rules/utf8.hpp (one character at a time) is
// too slow. The idea is that of Keiser and Lemire 2021, "Validating UTF-8 in less than one instruction per byte". It
// compares two masks: bytes that must continue a character, and bytes that do.
#pragma once

#include "gpu/block/byte_masks.cuh"

namespace headrace {

// Shifts bit 7 of each byte by `back` bytes towards later ones, with the bytes of the word before.
__device__ __forceinline__ u32 behind_by(u32 before, u32 flags, u32 back) {
    return __funnelshift_l(before, flags, 8 * back);
}

// Returns bit 7 of each byte that equals a value above 127.
__device__ __forceinline__ u32 equals_high(u32 bytes, u32 value) {
    return ~tile::differs(bytes & ~tile::top_bits, tile::repeated(value & 0x7F)) & bytes & tile::top_bits;
}

struct Utf8Leads {
    u32 two, three, four;  // lead bytes of characters of at least 2, 3, 4 bytes
    __device__ __forceinline__ explicit Utf8Leads(u32 word) {
        two = word & word << 1 & tile::top_bits;
        three = two & word << 2;
        four = three & word << 3;
    }
};

// Returns non-zero if a byte of `word` is invalid after the bytes of `before`. A truncated character is detected with
// the bytes that follow it.
__device__ __forceinline__ u32 utf8_errors(u32 before, u32 word) {
    const Utf8Leads old(before), own(word);
    const u32 continues = word & ~(word << 1) & tile::top_bits;
    const u32 must =
        behind_by(old.two, own.two, 1) | behind_by(old.three, own.three, 2) | behind_by(old.four, own.four, 3);
    const auto follows = [&](u32 lead) { return behind_by(equals_high(before, lead), equals_high(word, lead), 1); };
    // E0 80..9F and F0 80..8F are overlong, ED A0..BF surrogates, F4 90..BF above the last character. C0, C1 and F5 to
    // FF never occur.
    const u32 high = word << 2, above = word << 2 | word << 3;
    u32 errors = (must ^ continues) | (follows(0xE0) & ~high) | (follows(0xED) & high);
    errors |= (follows(0xF0) & ~above) | (follows(0xF4) & above);
    errors |= equals_high(word & 0xFEFEFEFE, 0xC0);
    errors |= own.four & (word << 4 | (word << 5 & (word << 6 | word << 7)));
    return errors & tile::top_bits;
}

}  // namespace headrace
