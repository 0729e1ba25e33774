// Reads decimal128 values of up to 19 significant digits. Each fast form returns what rules/numbers/parse_decimal.hpp
// returns, or declines.
#pragma once

#include "columns/convert/cpu/fast_number.hpp"
#include "columns/convert/cpu/number_lanes.hpp"
#include "columns/rules/numbers/parse_decimal.hpp"

HR_BEGIN_NAMESPACE

// Bounds on a mantissa for one decimal type. In decimal128(5, 3), "12.5" has the mantissa 125 with two zeros to append,
// so it must be below 10^3.
struct DecimalFormat {
    i32 precision;
    i32 scale;
};

HR_HOT bool fast_decimal(const NumberText& number, DecimalFormat format, Int128& out) {
    ScannedNumber scanned;
    if (!scan_number(number, scanned) || scanned.is_cut) return false;
    const i32 missing = format.scale + scanned.exponent;
    const i32 left = format.precision - missing;
    if (missing < 0 || missing > 19 || left < 0 || (left < 19 && scanned.mantissa >= POWERS_OF_TEN[left])) return false;
    const Int128 value = multiply(scanned.mantissa, POWERS_OF_TEN[missing]);
    out = scanned.negative ? negate(value) : value;
    return true;
}

#if defined(HR_ISA_AVX512)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"

// Stores eight decimals that fit in 63 bits. Returns the rows that it declines.
HR_FN __mmask8 store_decimals(const LaneDecimals& found, DecimalFormat format, Int128* values) {
    const Lane64 missing =
        _mm512_sub_epi64(all_lanes(static_cast<u64>(static_cast<i64>(format.scale))), found.decimals);
    const Lane64 left = _mm512_sub_epi64(all_lanes(static_cast<u64>(static_cast<i64>(format.precision))), missing);
    // A product is below 10^18.
    const Lane64 digits_left = _mm512_min_epi64(left, _mm512_sub_epi64(all_lanes(18), missing));
    const __mmask8 fine = _mm512_cmpge_epi64_mask(missing, _mm512_setzero_si512()) &
                          _mm512_cmpge_epi64_mask(digits_left, _mm512_setzero_si512());
    const Lane64 limit = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), fine, digits_left, POWERS_OF_TEN, 8);
    const Lane64 power = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), fine, missing, POWERS_OF_TEN, 8);
    const Lane64 product = _mm512_mullo_epi64(found.mantissa, power);
    const Lane64 low = _mm512_mask_sub_epi64(product, found.negative, _mm512_setzero_si512(), product);
    const Lane64 high = _mm512_srai_epi64(low, 63);
    const Lane64 first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const Lane64 second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    _mm512_storeu_si512(values, _mm512_permutex2var_epi64(low, first, high));
    _mm512_storeu_si512(values + 4, _mm512_permutex2var_epi64(low, second, high));
    return static_cast<__mmask8>(~(fine & _mm512_cmplt_epu64_mask(found.mantissa, limit)));
}

#pragma GCC diagnostic pop

#endif

HR_END_NAMESPACE
