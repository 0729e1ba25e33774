// Parses the text of a float column: a number or word of parse_float.hpp, or a NaN with a payload. Inference uses
// parse_float.hpp alone, so a column of `nan(0x1)` whose type is not given is text.
//
//   nan(0x1)     a quiet NaN with payload 1, in the notation of C (C17 7.22.1.3)
//   -snan(0x1)   a signaling NaN with payload 1 and a sign, in that of IEEE 754-2019 (5.12.1)
//
// Upper and lower case are equal. A payload has one bit less than the fraction, whose highest bit marks quiet NaN.
#pragma once

#include "columns/rules/numbers/float_format.hpp"
#include "columns/rules/numbers/parse_float.hpp"
#include "columns/rules/numbers/parse_int.hpp"

HR_BEGIN_NAMESPACE

template <class T>
HR_COLD Parse parse_nan_payload(const u8* p, usize n, T& out) {
    const bool negative = n > 0 && p[0] == '-';
    usize at = negative || (n > 0 && p[0] == '+') ? 1 : 0;
    const bool signaling = at < n && (p[at] | 0x20) == 's';
    at += signaling ? 1 : 0;
    constexpr usize FRAME = 7;  // nan(0x and )
    if (n < at + FRAME || !equals_ignoring_case(p + at, 3, "nan") || p[at + 3] != '(' || p[n - 1] != ')') {
        return Parse::invalid;
    }
    using Bits = typename FloatFormat<T>::Bits;
    constexpr Bits QUIET = Bits{1} << (FloatFormat<T>::precision - 2);
    const u8* const hex = p + at + 4;
    const usize size = n - at - 5;
    u64 payload;
    if (!is_hex(hex, size) || parse_hex_magnitude(hex + 2, size - 2, payload) != Parse::ok) return Parse::invalid;
    if (payload >= QUIET || (signaling && payload == 0)) return Parse::invalid;
    const Bits fraction = static_cast<Bits>(payload) | (signaling ? 0 : QUIET);
    out = with_sign(bits_as<T>(bits_as<Bits>(infinite<T>()) | fraction), negative);
    return Parse::ok;
}

// As parse_float; also accepts NaN with a payload.
template <class T>
HR_COLD Parse parse_real(const u8* p, usize n, T& out) {
    const Parse status = parse_float(p, n, out);
    return status == Parse::invalid ? parse_nan_payload(p, n, out) : status;
}

HR_END_NAMESPACE
