// Splits the text of a decimal number into its parts: "-12.50e3" -> negative, mantissa 1250, exponent 1.
#pragma once

#include "columns/rules/numbers/digits.hpp"
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

constexpr i64 MANTISSA_DIGITS = 19;  // any 19 digits are below 2^64

// The value is mantissa * 10^exponent. If digits were cut off, it is between that and (mantissa + 1) * 10^exponent.
// "0.0123456789012345678905" -> mantissa 1234567890123456789, exponent -20, rest "05", cut.
struct Decimal {
    u64 mantissa;  // the first 19 digits from the first that is not zero
    i64 exponent;
    const u8* rest;  // text of the digits after those, possibly with the point
    const u8* rest_end;
    bool negative;
    bool cut;  // `rest` has a digit that is not zero
};

// Reads digits from p[at] on into `value`, which wraps after 19 digits. Moves `at` past them.
HR_FN void read_digits(const u8* p, usize n, usize& at, u64& value) {
    for (; n - at >= 8; at += 8) {
        const u64 word = load_word(p + at);
        if (!is_eight_digits(word)) break;
        value = value * 100000000 + value_of_eight_digits(word);
    }
    for (; at < n && is_digit(p[at]); ++at) value = value * 10 + (p[at] - u64{'0'});
}

// Reads [eE][+-]?digits up to the end of the text, or nothing. Exponents stop growing at 10^18: no text is long enough
// to compensate that with zeros, so "1e99999999999999999999" stays large.
HR_FN bool read_exponent(const u8* p, usize n, usize at, i64& exponent) {
    exponent = 0;
    if (at == n) return true;
    if ((p[at] | 0x20) != 'e') return false;
    ++at;
    const bool negative = at < n && p[at] == '-';
    if (at < n && (p[at] == '-' || p[at] == '+')) ++at;
    if (at == n) return false;
    constexpr i64 ENOUGH = 100000000000000000;
    for (; at < n; ++at) {
        if (!is_digit(p[at])) return false;
        if (exponent < ENOUGH) exponent = exponent * 10 + (p[at] - '0');
    }
    if (negative) exponent = -exponent;
    return true;
}

// Takes the first 19 of a number's `count` digits in p[0, n), which may contain a point.
HR_COLD void cut_mantissa(const u8* p, usize n, i64 count, Decimal& out) {
    usize at = 0;
    for (; at < n && (p[at] == '0' || p[at] == '.'); ++at) count -= p[at] == '0';
    if (count <= MANTISSA_DIGITS) return;  // leading zeros, which do not add to the mantissa
    out.exponent += count - MANTISSA_DIGITS;
    out.mantissa = 0;
    for (i64 digits = 0; digits < MANTISSA_DIGITS; ++at) {
        if (p[at] == '.') continue;
        out.mantissa = out.mantissa * 10 + (p[at] - u64{'0'});
        ++digits;
    }
    out.rest = p + at;
    for (; at < n && !out.cut; ++at) out.cut = p[at] != '0' && p[at] != '.';
}

// Parses [+-]? (digits [. digits*] | . digits) ([eE][+-]?digits)?. Returns false if the text is anything else.
HR_COLD bool scan_decimal(const u8* p, usize n, Decimal& out) {
    out = {0, 0, p, p, n > 0 && p[0] == '-', false};
    const usize sign = out.negative || (n > 0 && p[0] == '+') ? 1 : 0;
    usize at = sign;
    read_digits(p, n, at, out.mantissa);
    i64 count = static_cast<i64>(at - sign);
    i64 fraction = 0;
    if (at < n && p[at] == '.') {
        const usize point = at++;
        read_digits(p, n, at, out.mantissa);
        fraction = static_cast<i64>(at - point - 1);
        count += fraction;
    }
    if (count == 0 || !read_exponent(p, n, at, out.exponent)) return false;
    out.exponent -= fraction;
    out.rest = out.rest_end = p + at;
    if (count > MANTISSA_DIGITS) cut_mantissa(p + sign, at - sign, count, out);
    return true;
}

HR_END_NAMESPACE
