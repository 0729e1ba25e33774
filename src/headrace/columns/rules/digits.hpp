// Decimal digits, alone and eight at a time. Eight bytes are read as one little-endian word: the first digit of the
// text is the lowest byte.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

HR_FN bool is_digit(u8 byte) { return static_cast<u8>(byte - '0') <= 9; }

// A digit is 0x30..0x39: its high half is 3, and stays 3 when 6 is added (0x3A + 6 = 0x40). Bytes from 0xFA up may
// carry into their neighbour, but their own high half is not 3 already.
HR_FN bool is_eight_digits(u64 word) {
    constexpr u64 HIGH_HALVES = 0xF0F0F0F0F0F0F0F0;
    constexpr u64 THREES = 0x3030303030303030;
    return (word & HIGH_HALVES) == THREES && ((word + 0x0606060606060606) & HIGH_HALVES) == THREES;
}

// "12345678" -> 12345678: neighbours join to pairs (12, 34, 56, 78), pairs to fours, fours to the eight.
HR_FN u64 value_of_eight_digits(u64 word) {
    word -= 0x3030303030303030;
    word = word * 10 + (word >> 8);
    const u64 pairs_1_and_3 = word & 0x000000FF000000FF;
    const u64 pairs_2_and_4 = word >> 16 & 0x000000FF000000FF;
    constexpr u64 WEIGHTS_1_AND_3 = 100 + (1000000ULL << 32);
    constexpr u64 WEIGHTS_2_AND_4 = 1 + (10000ULL << 32);
    return (pairs_1_and_3 * WEIGHTS_1_AND_3 + pairs_2_and_4 * WEIGHTS_2_AND_4) >> 32;
}

HR_END_NAMESPACE
