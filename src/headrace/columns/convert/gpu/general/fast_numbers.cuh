// Reads numbers of the common shapes from staged text. Each fast form returns the value that the shared rule gives, or
// declines.
#pragma once

#include "columns/convert/gpu/digits.cuh"
#include "columns/convert/gpu/general/tile_text.cuh"
#include "columns/convert/gpu/general/tile_values.cuh"

namespace headrace {

// Maximum length in bytes of a field that a fast form reads.
constexpr u32 max_fast_bytes = 19;

HR_FN bool fast_integer(const u32* text, u32 end, u32 n, IntegerRange range, bool canonical, u64& value) {
    ShortDecimal found =
        n <= 8 ? read_decimal<2, false>(text, end, n, canonical) : read_decimal<4, false>(text, end, n, canonical);
    const bool negative = found.negative && range.is_signed;
    if (!found.fine || (found.negative && !range.is_signed) || found.mantissa > range.largest + (negative ? 1 : 0)) {
        return false;
    }
    value = negative ? 0 - found.mantissa : found.mantissa;
    return true;
}

// Divides a mantissa by a power of ten, both exact in T, with one rounding (Clinger).
template <class T>
HR_FN bool fast_float(const u32* text, u32 end, u32 n, bool canonical, T& value) {
    const ShortDecimal found =
        n <= 8 ? read_decimal<2, true>(text, end, n, canonical) : read_decimal<4, true>(text, end, n, canonical);
    constexpr u64 exact = u64{1} << FloatFormat<T>::precision;
    if (!found.fine || found.mantissa > exact || found.fraction > FloatFormat<T>::largest_exact_power) return false;
    const T whole = static_cast<T>(found.mantissa);
    const T power = static_cast<T>(EXACT_POWERS_OF_TEN[found.fraction]);
    value = found.fraction == 0 ? whole : whole / power;
    value = with_sign(value, found.negative);
    return true;
}

HR_FN bool fast_decimal(const u32* text, u32 end, u32 n, i32 precision, i32 scale, Int128& value) {
    const ShortDecimal found =
        n <= 8 ? read_decimal<2, true>(text, end, n, false) : read_decimal<4, true>(text, end, n, false);
    const i32 missing = scale - static_cast<i32>(found.fraction);
    const i32 left = precision - missing;
    if (!found.fine || missing < 0 || missing > 19 || left < 0) return false;
    if (left < 19 && found.mantissa >= POWERS_OF_TEN[left]) return false;
    value = multiply(found.mantissa, POWERS_OF_TEN[missing]);
    if (found.negative) value = negate(value);
    return true;
}

}  // namespace headrace
