// Text to a decimal of fixed scale, exactly: "12.5" with two digits behind the point is 1250. What cannot be held
// exactly is an overflow and is never rounded: "0.125" with two digits, or more digits in all than the precision.
#pragma once

#include "columns/rules/decimal_scan.hpp"
#include "columns/rules/int128.hpp"
#include "columns/rules/status.hpp"
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

HR_TABLE u64 POWERS_OF_TEN[] = {1,
                                10,
                                100,
                                1000,
                                10000,
                                100000,
                                1000000,
                                10000000,
                                100000000,
                                1000000000,
                                10000000000,
                                100000000000,
                                1000000000000,
                                10000000000000,
                                100000000000000,
                                1000000000000000,
                                10000000000000000,
                                100000000000000000,
                                1000000000000000000,
                                10000000000000000000ULL};

// How many digits a number has: 0 -> 0, 9 -> 1, 10 -> 2.
HR_FN i64 count_digits(u64 value) {
    i64 count = 0;
    for (; count < 20 && value >= POWERS_OF_TEN[count]; ++count) continue;
    return count;
}

// The next digit of a number's rest, which may have its point still to come; 0 behind the end.
HR_FN u64 next_digit(const u8*& at, const u8* end) {
    if (at < end && *at == '.') ++at;
    return at < end ? *at++ - u64{'0'} : 0;
}

HR_FN bool has_digit_but_zero(const u8* at, const u8* end) {
    for (; at < end; ++at) {
        if (*at != '0' && *at != '.') return true;
    }
    return false;
}

// The text of a float without the words: [+-]? (digits [. digits*] | . digits) ([eE][+-]?digits)?. `out` is the value
// times 10^scale, with at most `precision` digits (1 .. 38).
HR_COLD Parse parse_decimal128(const u8* p, usize n, i32 precision, i32 scale, Int128& out) {
    Decimal decimal;
    if (!scan_decimal(p, n, decimal)) return Parse::invalid;
    u64 mantissa = decimal.mantissa;
    if (mantissa == 0) {
        out = {0, 0};
        return Parse::ok;
    }
    // "1.50" of scale 3 lacks one zero, of scale 1 it has one too many.
    i64 missing = decimal.exponent + scale;
    if (missing < 0) {
        if (missing < -MANTISSA_DIGITS || mantissa % POWERS_OF_TEN[-missing] != 0) return Parse::overflow;
        mantissa /= POWERS_OF_TEN[-missing];
        missing = 0;
    }
    if (count_digits(mantissa) + missing > precision) return Parse::overflow;
    Int128 value = {mantissa, 0};
    const u8* rest = decimal.rest;
    for (; missing > 0; --missing) value = add(multiply(value, 10), {next_digit(rest, decimal.rest_end), 0});
    if (has_digit_but_zero(rest, decimal.rest_end)) return Parse::overflow;
    out = decimal.negative ? negate(value) : value;
    return Parse::ok;
}

HR_END_NAMESPACE
