// Parses floating-point numbers, correctly rounded (to nearest, ties to even) and directly to the requested type. A
// float that was a double first would be rounded twice.
//
// Three methods, each for the numbers that the previous one cannot decide:
//   1. up to 15 digits with a small power of ten: one exact multiplication or division (Clinger, PLDI 1990);
//   2. the first 19 digits times a power of five from a table (eisel_lemire.hpp);
//   3. a comparison of big integers with the midpoint (midpoint.hpp). Its time and space are bounded: of more than 800
//      digits, it matters only whether some are not zero.
#pragma once

#include "columns/rules/common/status.hpp"
#include "columns/rules/common/text_match.hpp"
#include "columns/rules/numbers/decimal_scan.hpp"
#include "columns/rules/numbers/eisel_lemire.hpp"
#include "columns/rules/numbers/float_format.hpp"
#include "columns/rules/numbers/midpoint.hpp"
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

HR_TABLE double EXACT_POWERS_OF_TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                         1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Both operands are exact, so the operation's one rounding is correct: 123.45 = 12345 / 100.
template <class T>
HR_FN bool multiply_exact(u64 mantissa, i64 exponent, T& out) {
    using Format = FloatFormat<T>;
    constexpr i64 LARGEST = Format::largest_exact_power;
    if (mantissa > u64{1} << Format::precision || exponent < -LARGEST || exponent > LARGEST) return false;
    const T power = static_cast<T>(EXACT_POWERS_OF_TEN[exponent < 0 ? -exponent : exponent]);
    const T value = static_cast<T>(mantissa);
    out = exponent < 0 ? value / power : value * power;
    return true;
}

// Returns the decimal without its sign; infinity if it is too large.
template <class T>
HR_COLD T round_decimal(const Decimal& decimal) {
    T value;
    if (!decimal.cut && multiply_exact(decimal.mantissa, decimal.exponent, value)) return value;
    if (decimal.mantissa == 0) return 0;
    Estimate estimate = estimate_decimal<T>(decimal.mantissa, decimal.exponent);
    if (decimal.cut && estimate.rounding != Rounding::unknown) {
        // If the mantissa and the next one round to the same float, so does everything between them.
        const Estimate above = estimate_decimal<T>(decimal.mantissa + 1, decimal.exponent);
        const bool agree = above.rounding != Rounding::unknown && rounded<T>(above) == rounded<T>(estimate);
        if (!agree) estimate.rounding = Rounding::unknown;
    }
    if (estimate.rounding == Rounding::unknown) estimate.rounding = round_exactly<T>(decimal, estimate);
    return rounded<T>(estimate);
}

// Parses [+-]?(nan|inf|infinity) in upper or lower case.
template <class T>
HR_COLD Parse parse_float_word(const u8* p, usize n, T& out) {
    const bool negative = n > 0 && p[0] == '-';
    const usize sign = negative || (n > 0 && p[0] == '+') ? 1 : 0;
    const u8* word = p + sign;
    const usize size = n - sign;
    using Bits = typename FloatFormat<T>::Bits;
    constexpr Bits QUIET = Bits{1} << (FloatFormat<T>::precision - 2);
    const T infinity = infinite<T>();
    T value;
    if (equals_ignoring_case(word, size, "nan")) {
        value = bits_as<T>(bits_as<Bits>(infinity) | QUIET);
    } else if (equals_ignoring_case(word, size, "inf") || equals_ignoring_case(word, size, "infinity")) {
        value = infinity;
    } else {
        return Parse::invalid;
    }
    out = with_sign(value, negative);
    return Parse::ok;
}

// A value that rounds to infinity is an overflow, with `out` +-infinity. A value that rounds to a subnormal or to zero
// is ok.
template <class T>
HR_COLD Parse parse_float(const u8* p, usize n, T& out) {
    Decimal decimal;
    if (!scan_decimal(p, n, decimal)) return parse_float_word(p, n, out);
    const T value = round_decimal<T>(decimal);
    out = with_sign(value, decimal.negative);
    return value == infinite<T>() ? Parse::overflow : Parse::ok;
}

HR_END_NAMESPACE
