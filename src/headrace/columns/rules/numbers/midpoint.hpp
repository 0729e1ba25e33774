// Decides whether a decimal is below or above the midpoint of two neighbouring floats, the last resort of parsing a
// float. Both sides become integers by cancelling powers of two and five, and are compared exactly:
//
// | digits * 10^e   ?   odd * 2^k        the midpoint has one bit more than the significand, so it is odd
// | digits * 5^e * 2^(e - k)   ?   odd   and negative powers go to the other side
//
// Source: William D. Clinger, "How to read floating point numbers accurately", PLDI 1990, whose algorithm AlgorithmR
// compares the same two integers.
#pragma once

#include "columns/rules/numbers/big_integer.hpp"
#include "columns/rules/numbers/decimal_scan.hpp"
#include "columns/rules/numbers/eisel_lemire.hpp"
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// A midpoint of doubles is odd * 2^k with odd < 2^54 and k >= -1075, so it has at most 768 digits (54 log10(2) + 1075
// log10(5) = 767.7). A number that equals it in 798 digits (42 times 19) and has further non-zero digits is above it.
constexpr i64 DIGITS_COMPARED = 42 * MANTISSA_DIGITS;

// Appends the digits of `rest` to the mantissa, up to 798 in all. Returns the number of digits added. Afterwards `cut`
// says whether non-zero digits are left.
HR_FN i64 append_rest(Decimal& decimal, BigInteger& digits) {
    i64 added = 0;
    const u8* p = decimal.rest;
    while (p != decimal.rest_end && added < DIGITS_COMPARED - MANTISSA_DIGITS) {
        u64 chunk = 0;
        u64 weight = 1;
        for (i64 count = 0; count < MANTISSA_DIGITS && p != decimal.rest_end; ++p) {
            if (*p == '.') continue;
            chunk = chunk * 10 + (*p - u64{'0'});
            weight *= 10;
            ++count;
            ++added;
        }
        multiply_add(digits, weight, chunk);
    }
    decimal.cut = false;
    for (; p != decimal.rest_end && !decimal.cut; ++p) decimal.cut = *p != '0' && *p != '.';
    return added;
}

// Decides whether the decimal rounds to the estimate's significand or to the next.
//
// The two sides are close to each other, so the larger one has at most 2670 bits: 798 digits are 2651 bits, and 54 bits
// times 5^1122 are 2660 (any 798 digits * 10^-1123 are below half of the smallest subnormal). So both fit a BigInteger.
template <class T>
HR_COLD Rounding round_exactly(Decimal decimal, const Estimate& estimate) {
    using Format = FloatFormat<T>;
    BigInteger left, right;
    set(left, decimal.mantissa);
    i32 power = static_cast<i32>(decimal.exponent);
    if (decimal.cut) power -= static_cast<i32>(append_rest(decimal, left));
    set(right, 2 * estimate.significand + 1);
    const i32 twos = Format::smallest_exponent + estimate.scale - Format::precision;

    multiply_by_power_of_five(power < 0 ? right : left, static_cast<u32>(power < 0 ? -power : power));
    const i32 shift = power - twos;
    shift_left(shift < 0 ? right : left, static_cast<u32>(shift < 0 ? -shift : shift));

    const i32 order = compare(left, right);
    if (order == 0 && !decimal.cut) return estimate.significand % 2 == 0 ? Rounding::down : Rounding::up;
    return order < 0 ? Rounding::down : Rounding::up;
}

HR_END_NAMESPACE
