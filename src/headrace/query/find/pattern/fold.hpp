// Folds the case of ASCII letters: 'A' to 'Z' become 'a' to 'z', and all other bytes stay.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

HR_FN u8 fold_byte(u8 byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<u8>(byte | 0x20) : byte; }

// Returns the other case of a folded letter, and other bytes as they are.
HR_FN u8 other_case(u8 folded) { return folded >= 'a' && folded <= 'z' ? static_cast<u8>(folded & ~0x20) : folded; }

// Folds eight bytes at once. The top bit of a byte of `least` is set from 'A' on, that of `past` after 'Z'.
HR_FN u64 fold_word(u64 word) {
    constexpr u64 each = 0x0101010101010101;
    const u64 low = word & 0x7F * each;
    const u64 least = low + (0x80 - 'A') * each;
    const u64 past = low + (0x7F - 'Z') * each;
    const u64 letters = (least ^ past) & ~word & 0x80 * each;
    return word | letters >> 2;
}

HR_END_NAMESPACE
