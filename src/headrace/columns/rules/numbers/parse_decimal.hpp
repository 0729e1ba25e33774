// Parses a decimal of fixed scale exactly: "12.5" with two digits after the point is 1250. A value that the type cannot
// hold exactly is an overflow and is never rounded: "0.125" with scale 2, or more digits than the precision.
#pragma once

#include "columns/rules/common/status.hpp"
#include "columns/rules/numbers/decimal_scan.hpp"
#include "columns/rules/numbers/int128.hpp"
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

// Returns the number of digits: 0 -> 0, 9 -> 1, 10 -> 2.
HR_FN i64 count_digits(u64 value) {
    i64 count = 0;
    for (; count < 20 && value >= POWERS_OF_TEN[count]; ++count) continue;
    return count;
}

// Returns the next digit of a number's rest, in which the point may still follow; 0 at its end.
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

// Parses the text of a float without special words: [+-]? (digits [. digits*] | . digits) ([eE][+-]?digits)?. `out`:
// the value times 10^scale, with at most `precision` digits (1 .. 38).
HR_COLD Parse parse_decimal128(const u8* p, usize n, i32 precision, i32 scale, Int128& out) {
    Decimal decimal;
    if (!scan_decimal(p, n, decimal)) return Parse::invalid;
    u64 mantissa = decimal.mantissa;
    if (mantissa == 0) {
        out = {0, 0};
        return Parse::ok;
    }
    // With scale 3, "1.50" lacks one zero; with scale 1 it has one too many.
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
