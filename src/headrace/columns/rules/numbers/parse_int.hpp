// Parses integers: an optional sign and one or more digits, or 0x and hexadecimal digits, and nothing else. A value
// that does not fit is reported and never wraps: "128" as i8 is an overflow, and so is "99999999999999999999999".
#pragma once

#include "columns/rules/common/status.hpp"
#include "columns/rules/numbers/digits.hpp"
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Parses one or more digits; overflow if the number exceeds 64 bits.
HR_COLD Parse parse_magnitude(const u8* p, usize n, u64& out) {
    if (n == 0) return Parse::invalid;
    u64 value = 0;
    usize i = 0;
    // Any 19 digits are below 2^64.
    for (; i + 8 <= n && i + 8 <= 19; i += 8) {
        const u64 word = load_word(p + i);
        if (!is_eight_digits(word)) break;
        value = value * 100000000 + value_of_eight_digits(word);
    }
    for (; i < n && i < 19; ++i) {
        if (!is_digit(p[i])) return Parse::invalid;
        value = value * 10 + (p[i] - u64{'0'});
    }
    bool fits = true;
    for (; i < n; ++i) {
        if (!is_digit(p[i])) return Parse::invalid;
        const u64 digit = p[i] - u64{'0'};
        fits = fits && value <= (~u64{0} - digit) / 10;
        value = value * 10 + digit;
    }
    out = value;
    return fits ? Parse::ok : Parse::overflow;
}

// Returns whether p[0, n), without a sign, begins as a hexadecimal number does: 0x1F, 0X1f.
HR_FN bool is_hex(const u8* p, usize n) { return n >= 3 && p[0] == '0' && (p[1] | 0x20) == 'x'; }

// Parses one or more hexadecimal digits; overflow if the number exceeds 64 bits.
HR_COLD Parse parse_hex_magnitude(const u8* p, usize n, u64& out) {
    u64 value = 0, lost = 0;
    u32 wrong = 0;
    for (usize i = 0; i < n; ++i) {
        // Digits and letters are unpredictable, so there is no branch. The low half of a letter is 1..6.
        const u32 is_letter = (p[i] | u32{0x20}) - 'a' <= 5 ? 1 : 0;
        wrong |= is_letter ^ (is_digit(p[i]) ? 0 : 1);
        lost |= value >> 60;
        value = value << 4 | ((p[i] & u32{0xF}) + 9 * is_letter);
    }
    if (wrong != 0) return Parse::invalid;
    out = value;
    return lost == 0 ? Parse::ok : Parse::overflow;
}

// The integers of one width: up to `largest`, and if signed down to -largest - 1.
struct IntegerRange {
    u64 largest;
    bool is_signed;
};

template <class T>
HR_FN IntegerRange range_of() {
    constexpr bool IS_SIGNED = static_cast<T>(-1) < static_cast<T>(0);
    return {~u64{0} >> (64 - 8 * sizeof(T) + (IS_SIGNED ? 1 : 0)), IS_SIGNED};
}

// Sets `out` only if the result is ok: the value in two's complement. An unsigned "-0" is 0, an unsigned "-1" is an
// overflow.
HR_COLD Parse parse_integer(const u8* p, usize n, IntegerRange range, u64& out) {
    const bool negative = n > 0 && p[0] == '-';
    const usize sign = negative || (n > 0 && p[0] == '+') ? 1 : 0;

    u64 magnitude = 0;
    const Parse status = is_hex(p + sign, n - sign) ? parse_hex_magnitude(p + sign + 2, n - sign - 2, magnitude)
                                                    : parse_magnitude(p + sign, n - sign, magnitude);
    if (status != Parse::ok) return status;
    const u64 limit = !negative ? range.largest : range.is_signed ? range.largest + 1 : 0;
    if (magnitude > limit) return Parse::overflow;
    out = negative ? 0 - magnitude : magnitude;
    return Parse::ok;
}

template <class T>
HR_FN Parse parse_int(const u8* p, usize n, T& out) {
    u64 value;
    const Parse status = parse_integer(p, n, range_of<T>(), value);
    if (status == Parse::ok) out = static_cast<T>(value);
    return status;
}

// Returns whether text such as 007, -01 and 00.5 is more likely a code than a number. 0 and 0.5 are numbers.
HR_FN bool has_leading_zero(const u8* p, usize n) {
    const usize sign = n > 0 && (p[0] == '-' || p[0] == '+') ? 1 : 0;
    return n >= sign + 2 && p[sign] == '0' && is_digit(p[sign + 1]);
}

HR_END_NAMESPACE
