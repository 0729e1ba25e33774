// Validates UTF-8 by table 3-7 of the Unicode standard ("Well-Formed UTF-8 Byte Sequences").
#pragma once

#include "columns/rules/numbers/digits.hpp"
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Returns the length of the well-formed sequence at the begin of p[0, n), n > 0; 0 if there is none. Bytes after the
// lead byte are 80..BF. The second one is restricted further to exclude overlong forms (E0 80 80 for 00), surrogates
// (ED A0 80 for U+D800) and numbers above U+10FFFF (F4 90 80 80).
HR_FN usize utf8_sequence_length(const u8* p, usize n) {
    const u8 lead = p[0];
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    const usize length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (n < length) return 0;
    const u8 lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const u8 highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < lowest || p[1] > highest) return 0;
    for (usize i = 2; i < length; ++i) {
        if ((p[i] & 0xC0) != 0x80) return 0;
    }
    return length;
}

// Returns the number of bytes at the begin of p[0, n), n > 0, that one U+FFFD replaces if no well-formed sequence
// begins there. These are the bytes that could have begun one ("maximal subpart", section 3.9), or else one byte. E2 82
// 41 has two, FF has one.
HR_FN usize utf8_ill_formed_length(const u8* p, usize n) {
    if (n < 2 || p[0] < 0xC2 || p[0] > 0xF4) return 1;
    const usize wanted = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    const u8 lowest = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
    const u8 highest = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
    if (p[1] < lowest || p[1] > highest) return 1;
    usize length = 2;
    while (length < n && length < wanted && (p[length] & 0xC0) == 0x80) ++length;
    return length;
}

// Returns the offset of the first ill-formed sequence; n if there is none.
HR_COLD usize find_invalid_utf8(const u8* p, usize n) {
    constexpr u64 HIGH_BITS = 0x8080808080808080;
    usize i = 0;
    while (i < n) {
        if (n - i >= 8 && (load_word(p + i) & HIGH_BITS) == 0) {
            i += 8;
            continue;
        }
        const usize length = utf8_sequence_length(p + i, n - i);
        if (length == 0) return i;
        i += length;
    }
    return n;
}

// Copies p[0, n) with U+FFFD (EF BF BD) for invalid bytes. Returns the size of the copy, at most 3 n.
HR_FN usize replace_invalid_utf8(const u8* p, usize n, u8* to) {
    u8* const begin = to;
    for (usize i = 0; i < n;) {
        const usize valid = find_invalid_utf8(p + i, n - i);
        for (usize k = 0; k < valid; ++k) *to++ = p[i + k];
        i += valid;
        if (i == n) break;
        *to++ = 0xEF;
        *to++ = 0xBF;
        *to++ = 0xBD;
        i += utf8_ill_formed_length(p + i, n - i);
    }
    return static_cast<usize>(to - begin);
}

HR_END_NAMESPACE
