// Compares a field's text with words that the user gave (nulls, bools).
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

// Compares without regard to case: "NaN" and "nan" are both "nan". `word` is in lower case. Setting bit 0x20 turns a
// capital into its lower-case letter and turns no other byte into a letter.
template <usize SIZE>
HR_FN bool equals_ignoring_case(const u8* p, usize n, const char (&word)[SIZE]) {
    if (n != SIZE - 1) return false;
    for (usize i = 0; i < n; ++i) {
        if ((p[i] | 0x20) != word[i]) return false;
    }
    return true;
}

HR_END_NAMESPACE
