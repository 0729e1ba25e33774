// Reads decimal digits from staged text, four bytes at a time and backwards from a field's end. Bytes before the first
// digit are replaced by zeros, so the length of the field does not matter. Numbers of several bytes are sums of
// products (dp4a, dp2a).
//
// Example "-12.75": the last eight bytes are "x,-12.75". Without the point they are "?x,-1275", so the last four are
// digits, and the bytes before them are cut off. 1275 and 100 are exact, so 1275 / 100 is rounded once.
// the last four are digits; those above the four are cut off; 1275 / 100 is exact in both parts and rounded once.
#pragma once

#include "columns/rules/numbers/digits.hpp"
#include "gpu/block/byte_masks.cuh"

namespace headrace {

using tile::dot4;

// Returns the index of the lowest set bit; a number above 31 if there is none.
HR_FN u32 first_bit(u32 bits) {
#if defined(__CUDACC__)
    u32 place;
    asm("{ .reg .u32 t; brev.b32 t, %1; bfind.shiftamt.u32 %0, t; }" : "=r"(place) : "r"(bits));
    return place;
#else
    return bits != 0 ? static_cast<u32>(trailing_zeros(bits)) : ~0u;
#endif
}

// Returns 1000 a + 100 b + 10 c + d for four digits, the first in the lowest byte.
HR_FN u32 four_digits(u32 digits) {
#if defined(__CUDACC__)
    return __dp2a_hi((1u << 16) + 10, digits, __dp2a_lo((100u << 16) + 1000, digits, 0u));
#else
    return (digits & 0xFF) * 1000 + (digits >> 8 & 0xFF) * 100 + (digits >> 16 & 0xFF) * 10 + (digits >> 24);
#endif
}

// Returns a mask of a word's last `count` bytes, for any `count`.
HR_FN u32 last_bytes(i32 count) { return ~__funnelshift_rc(~0u, 0, static_cast<u32>(8 * (count < 0 ? 0 : count))); }

// Loads words of four bytes, the first of which begins at staged byte `at`.
template <u32 count>
HR_FN void load_from(const u32* text, u32 at, u32 (&words)[count]) {
    const u32* const from = text + at / 4;
    u32 low = from[0];
#pragma unroll
    for (u32 i = 0; i < count; ++i) {
        const u32 high = from[i + 1];
        words[i] = __funnelshift_r(low, high, 8 * at);
        low = high;
    }
}

// Loads words of four bytes, the last of which ends at staged byte `end`.
template <u32 count>
HR_FN void load_before(const u32* text, u32 end, u32 (&words)[count]) {
    load_from(text, end - 4 * count, words);
}

// Returns bit 7 of each byte that is above 9.
HR_FN u32 not_digits(u32 digits) { return ((digits + 0x76767676) | digits) & 0x80808080; }

// Reads the last `digits` of 4 * count bytes as words of 8 digits. Returns false if one of them is not a digit.
template <u32 count>
HR_FN bool value_of(const u32 (&words)[count], i32 digits, u64& value) {
    u32 wrong = 0, fours[count];
#pragma unroll
    for (u32 i = 0; i < count; ++i) {
        const u32 cut = (words[i] ^ 0x30303030) & last_bytes(digits - static_cast<i32>(4 * (count - 1 - i)));
        wrong |= not_digits(cut);
        fours[i] = four_digits(cut);
    }
    value = fours[count - 2] * 10000 + fours[count - 1];
    if constexpr (count == 3) value += u64{fours[0]} * 100000000;
    return wrong == 0;
}

// Reads the last `digits` of eight bytes.
HR_FN bool value_of(const u32 (&words)[2], i32 digits, u32& value) {
    const u32 a = (words[0] ^ 0x30303030) & last_bytes(digits - 4), b = (words[1] ^ 0x30303030) & last_bytes(digits);
    value = four_digits(a) * 10000 + four_digits(b);
    return (not_digits(a) | not_digits(b)) == 0;
}

// A power of ten and the nearest number to its inverse.
template <class T>
struct Power {
    T power, inverse;
};
// clang-format off
HR_TABLE Power<float> POWERS_32[16] = {
    {1e0f, 1e0f / 1e0f}, {1e1f, 1e0f / 1e1f}, {1e2f, 1e0f / 1e2f},
    {1e3f, 1e0f / 1e3f}, {1e4f, 1e0f / 1e4f}, {1e5f, 1e0f / 1e5f},
    {1e6f, 1e0f / 1e6f}, {1e7f, 1e0f / 1e7f}, {1e8f, 1e0f / 1e8f},
    {1e9f, 1e0f / 1e9f}, {1e10f, 1e0f / 1e10f}};
HR_TABLE Power<double> POWERS_64[16] = {
    {1e0, 1e0 / 1e0}, {1e1, 1e0 / 1e1}, {1e2, 1e0 / 1e2},
    {1e3, 1e0 / 1e3}, {1e4, 1e0 / 1e4}, {1e5, 1e0 / 1e5},
    {1e6, 1e0 / 1e6}, {1e7, 1e0 / 1e7}, {1e8, 1e0 / 1e8},
    {1e9, 1e0 / 1e9}, {1e10, 1e0 / 1e10}, {1e11, 1e0 / 1e11},
    {1e12, 1e0 / 1e12}, {1e13, 1e0 / 1e13}, {1e14, 1e0 / 1e14},
    {1e15, 1e0 / 1e15}};
// clang-format on

// Returns whole / 10^count with one rounding, for whole numbers below 10^8 and counts up to 7 (for float: below 2^24,
// counts up to 10). The product with the inverse is corrected by its exact remainder (Markstein, "Computation of
// elementary functions on the IBM RISC System/6000 processor", 1990). An exhaustive test has shown that the result
// equals the division's.
HR_FN float divide_by_power(float whole, u32 count) {
    const Power<float> by = POWERS_32[count & 15];
    const float quotient = whole * by.inverse;
    return fused(fused(-quotient, by.power, whole), by.inverse, quotient);
}
HR_FN double divide_by_power(double whole, u32 count) {
    const Power<double> by = POWERS_64[count & 15];
    const double quotient = whole * by.inverse;
    return fused(fused(-quotient, by.power, whole), by.inverse, quotient);
}

// Moves the bytes before the last point by one, over it. Returns the number of bytes after the point, or 4 * count if
// there is none. `point_bytes`: that byte, four times.
template <u32 count>
HR_FN u32 close_point(u32 (&words)[count], u32 point_bytes = 0x2E2E2E2E) {
    u32 after_point = 4 * count;
#pragma unroll
    for (u32 i = 0; i < count; ++i) {
        const u32 point = tile::equals(words[i], point_bytes);
        if (point != 0) after_point = 4 * (count - 1 - i) + static_cast<u32>(__clz(static_cast<int>(point))) / 8;
    }
#pragma unroll
    for (u32 i = count; i-- > 0;) {
        const u32 moved = __funnelshift_l(i == 0 ? 0 : words[i - 1], words[i], 8);
        const u32 stays = last_bytes(static_cast<i32>(after_point) - static_cast<i32>(4 * (count - 1 - i)));
        words[i] = (words[i] & stays) | (moved & ~stays);
    }
    return after_point;
}

// A number, and whether the text is one.
template <class T>
struct Number {
    T value;
    bool fine;
};

// Reads up to twelve digits with an optional sign, for integers of up to 32 bits.
template <class T>
HR_FN Number<T> small_integer(const u32* text, u32 begin, u32 n, bool is_signed) {
    const bool negative = reinterpret_cast<const u8*>(text)[begin] == '-';
    const u32 digits = n - (negative ? 1 : 0);
    u32 words[3];
    load_before(text, begin + n, words);
    u64 magnitude;
    constexpr u64 most = ~u64{0} >> (64 - 8 * sizeof(T));
    const u64 largest = (is_signed ? most >> 1 : most) + (negative ? 1 : 0);
    const bool fine = value_of(words, static_cast<i32>(digits), magnitude) && digits - 1 < 12 && magnitude <= largest;
    return {static_cast<T>(negative ? 0 - magnitude : magnitude), fine && (!negative || is_signed)};
}

}  // namespace headrace
