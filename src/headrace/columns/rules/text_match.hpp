// Comparing a field's text with the words that a user gave (nulls, booleans).
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

HR_FN bool equals(const u8* a, usize n, const u8* b, usize m) {
    if (n != m) return false;
    for (usize i = 0; i < n; ++i) {
        if (a[i] != b[i]) return false;
    }
    return true;
}

// "NaN" and "nan" are both the word "nan". `word` is of small letters only: with bit 0x20 set, a capital becomes its
// small letter, and no other byte becomes a letter.
template <usize SIZE>
HR_FN bool equals_ignoring_case(const u8* p, usize n, const char (&word)[SIZE]) {
    if (n != SIZE - 1) return false;
    for (usize i = 0; i < n; ++i) {
        if ((p[i] | 0x20) != word[i]) return false;
    }
    return true;
}

HR_END_NAMESPACE
