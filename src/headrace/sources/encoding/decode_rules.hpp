// Defines how other encodings decode to UTF-8, character by character: the reference for decode.cpp and decode.cu.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// A code page. The text of byte b is the first `length[b]` bytes of `text[b]`, lowest byte first.
struct ByteTable {
    u32 text[256];
    u8 length[256];
    u32 keeps_ascii;  // not 0 if bytes below 128 decode to themselves
};

// Replaces undecodable bytes; valid UTF-8 never contains it.
constexpr u8 UNDECODABLE = 0xFF;

// A decoded character: its UTF-8 bytes (the first is the lowest), their number, and the bytes of the source that were
// used.
struct DecodedCharacter {
    u32 text;
    u8 length;
    u8 size;
};

HR_FN u32 utf16_unit(const u8* p, bool big) { return static_cast<u32>(p[big ? 0 : 1] << 8 | p[big ? 1 : 0]); }

// Returns the first character of p[0, n), n > 0. A lone surrogate and an odd last byte cannot be decoded. An odd last
// byte after the first unit of a pair forms one undecodable character with it.
HR_FN DecodedCharacter utf16_character(const u8* p, u64 n, bool big) {
    if (n < 2) return {UNDECODABLE, 1, static_cast<u8>(n)};
    const u32 unit = utf16_unit(p, big);
    const auto trail = [](u32 bits) { return 0x80 | (bits & 0x3F); };
    if (unit < 0x80) return {unit, 1, 2};
    if (unit < 0x800) return {(0xC0 | unit >> 6) | trail(unit) << 8, 2, 2};
    if ((unit & 0xF800) != 0xD800) return {(0xE0 | unit >> 12) | trail(unit >> 6) << 8 | trail(unit) << 16, 3, 2};
    if (unit < 0xDC00 && n >= 4 && (utf16_unit(p + 2, big) & 0xFC00) == 0xDC00) {
        const u32 character = 0x10000 + ((unit & 0x3FF) << 10 | (utf16_unit(p + 2, big) & 0x3FF));
        const u32 text = (0xF0 | character >> 18) | trail(character >> 12) << 8 | trail(character >> 6) << 16;
        return {text | trail(character) << 24, 4, 4};
    }
    return {UNDECODABLE, 1, static_cast<u8>(unit < 0xDC00 && n == 3 ? 3 : 2)};
}

// Returns whether the unit before p, which must exist, is the first half of a character that continues at p[0, n).
HR_FN bool is_behind_first_half(const u8* p, u64 n, bool big) {
    if ((utf16_unit(p - 2, big) & 0xFC00) != 0xD800) return false;
    return n < 2 || (utf16_unit(p, big) & 0xFC00) == 0xDC00;
}

HR_END_NAMESPACE
