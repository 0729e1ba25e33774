// Reads up to eight digits as one word.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Reads up to eight digits. "1234" is shifted to the word's upper bytes, so zeros precede it. Then neighbours are
// merged: digits to pairs, pairs to fours, fours to eight. Eight bytes from `p` on must be readable; 0 < n <= 8.
HR_FN bool short_digits(const u8* p, usize n, u64& value) {
    u64 digits;
    __builtin_memcpy(&digits, p, 8);
    digits = (digits ^ 0x3030303030303030) << (64 - 8 * n);
    if (((digits + 0x7676767676767676) | digits) & 0x8080808080808080) return false;
    digits = digits * (10 * 0x100 + 1) >> 8 & 0x00FF00FF00FF00FF;
    digits = digits * (100 * 0x10000 + 1) >> 16 & 0x0000FFFF0000FFFF;
    value = digits * (10000 * 0x100000000 + 1) >> 32;
    return true;
}

HR_END_NAMESPACE
