// Converts eight numbers at once with AVX-512, one per 64-bit lane: [-]digits[.digits], and for floats an exponent. See
// lanes.hpp. A text is read in words of eight bytes from its end: the tail, the eight bytes before it, and the head.
//
// | 12345.678901234e-05   the exponent is cut off: -5
// | 2345.67|8901234       head and tail
// | 0012345 * 10^7 + ...  neighbours are merged: digits to pairs, pairs to fours, fours to eight
#pragma once

#include "columns/convert/cpu/fast_number.hpp"
#include "columns/convert/cpu/lanes.hpp"

#if defined(HR_ISA_AVX512)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"

HR_BEGIN_NAMESPACE

// Selects the last bytes of each lane: `size` of them, at most 8.
HR_HOT Lane64 last_bytes(Lane64 text, Lane64 size) {
    const Lane64 shift = _mm512_sub_epi64(all_lanes(64), _mm512_slli_epi64(size, 3));
    return _mm512_and_si512(text, _mm512_sllv_epi64(all_lanes(~u64{0}), shift));
}

// Moves the first bytes of each lane to its end, with zeros before them.
HR_HOT Lane64 to_end(Lane64 text, Lane64 size) {
    return _mm512_sllv_epi64(text, _mm512_sub_epi64(all_lanes(64), _mm512_slli_epi64(size, 3)));
}

HR_HOT __mmask8 lanes_with(__mmask64 bytes) {
    const Lane64 marks = _mm512_maskz_set1_epi8(bytes, 1);
    return _mm512_test_epi64_mask(marks, marks);
}

// The last eight bytes of each field, at the lane's end.
struct LaneTails {
    Lane64 text;
    __mmask8 is_long;  // the head lacks some of the field's bytes
};

HR_HOT LaneTails tails_of(const TileRows& rows, const LaneFields& lanes) {
    LaneTails tails;
    const Lane64 in_head = _mm512_sub_epi64(all_lanes(8), _mm512_maskz_set1_epi64(lanes.quoted, 1));
    tails.is_long = _mm512_cmpgt_epi64_mask(lanes.size, in_head);
    tails.text = to_end(lanes.head, lanes.size);
    if (tails.is_long) [[unlikely]] {
        const Lane64 at = _mm512_sub_epi64(_mm512_add_epi64(lanes.start, lanes.size), all_lanes(8));
        tails.text = _mm512_mask_i64gather_epi64(tails.text, tails.is_long, at, rows.text, 1);
    }
    return tails;
}

// Merges eight digits per lane to one number.
HR_HOT Lane64 sum_lane_digits(Lane64 digits) {
    const Lane64 pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(1 << 8 | 10));
    const Lane64 fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(1 << 16 | 100));
    return _mm512_add_epi64(_mm512_mul_epu32(fours, all_lanes(10000)), _mm512_srli_epi64(fours, 32));
}

// Exponents that are cut off the ends of fields, zero where there is none.
struct LaneExponents {
    Lane64 value;
    __mmask8 present;
    __mmask8 wrong;
};

// Reads exponents such as "e-05", "E+3" and "e7", of at most four digits without leading zeros.
HR_HOT LaneExponents cut_exponents(const TileRows& rows, LaneFields& lanes, LaneTails& tails) {
    const Lane64 lower = _mm512_or_si512(tails.text, _mm512_set1_epi8(0x20));
    const __mmask64 letters = _mm512_cmpeq_epi8_mask(lower, _mm512_set1_epi8('e'));
    LaneExponents found{_mm512_setzero_si512(), 0, 0};
    if (letters == 0) [[likely]]
        return found;
    const Lane64 marks = _mm512_maskz_set1_epi8(letters, 1);
    found.present = _mm512_test_epi64_mask(marks, marks);
    Lane64 size = _mm512_srli_epi64(_mm512_lzcnt_epi64(marks), 3);  // of sign and digits
    lanes.size = _mm512_mask_sub_epi64(lanes.size, found.present, lanes.size, _mm512_add_epi64(size, all_lanes(1)));
    const Lane64 first = _mm512_srlv_epi64(tails.text, _mm512_sub_epi64(all_lanes(64), _mm512_slli_epi64(size, 3)));
    const __mmask8 negative = first_byte_is(first, '-');
    const __mmask8 has_sign = negative | first_byte_is(first, '+');
    size = _mm512_mask_sub_epi64(size, has_sign, size, all_lanes(1));
    const Lane64 digits = last_bytes(_mm512_xor_si512(tails.text, _mm512_set1_epi8('0')), size);
    const __mmask8 none = _mm512_testn_epi64_mask(size, size);
    found.value = sum_lane_digits(digits);
    found.wrong = found.present & (none | lanes_with(_mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9))) |
                                   _mm512_cmpgt_epi64_mask(found.value, all_lanes(9999)));
    found.value = _mm512_maskz_mov_epi64(found.present, found.value);
    found.value = _mm512_mask_sub_epi64(found.value, negative, _mm512_setzero_si512(), found.value);
    tails = tails_of(rows, lanes);
    return found;
}

// Up to eight digits per lane, with or without a point, which may be another mark than '.'.
struct LaneDigits {
    Lane64 value;
    Lane64 point;    // 1 in the byte of the point
    __mmask8 wrong;  // the text has another byte, or two points
};

// Reads digits as fast_number.hpp does: `digits` are bytes at the lane's end less '0', with zeros before them. Bytes
// before the point move up by one over it.
HR_HOT LaneDigits digits_of(Lane64 digits, u8 point) {
    const __mmask64 points = _mm512_cmpeq_epi8_mask(digits, _mm512_set1_epi8(static_cast<char>(point ^ '0')));
    const __mmask64 others = _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9)) & ~points;
    LaneDigits found;
    found.point = _mm512_maskz_set1_epi8(points, 1);
    const Lane64 below = _mm512_sub_epi64(found.point, all_lanes(1));
    const Lane64 beyond = _mm512_sub_epi64(_mm512_slli_epi64(found.point, 8), all_lanes(1));
    const __mmask8 has_point = _mm512_test_epi64_mask(found.point, found.point);
    const Lane64 closed =
        _mm512_or_si512(_mm512_andnot_si512(beyond, digits), _mm512_slli_epi64(_mm512_and_si512(digits, below), 8));
    found.value = sum_lane_digits(_mm512_mask_mov_epi64(digits, has_point, closed));
    found.wrong = lanes_with(others) | _mm512_test_epi64_mask(found.point, below);
    return found;
}

// [-]digits[.digits] in eight rows: at most 19 digits, and 24 bytes less sign and quote.
struct LaneDecimals {
    Lane64 mantissa;
    Lane64 decimals;  // number of digits after the point
    __mmask8 negative;
    __mmask8 has_point;
    __mmask8 declined;

    // Adds a word of digits before those that are read: `before` is their number, point included.
    void add(const LaneDigits& word, u64 before, Lane64 unit) {
        const __mmask8 point = _mm512_test_epi64_mask(word.point, word.point);
        declined |= word.wrong | (point & has_point);
        mantissa = _mm512_add_epi64(mantissa, _mm512_mullo_epi64(word.value, unit));
        const Lane64 after = _mm512_add_epi64(_mm512_srli_epi64(_mm512_lzcnt_epi64(word.point), 3), all_lanes(before));
        decimals = _mm512_mask_mov_epi64(decimals, point, after);
        has_point |= point;
    }
};

// Returns 10^digits, or less a tenth of that where a point takes the place of a digit.
HR_HOT Lane64 unit_of(__mmask8 has_point, u64 unit) {
    return _mm512_mask_mov_epi64(all_lanes(unit), has_point, all_lanes(unit / 10));
}

HR_HOT LaneDecimals decimals_of(const TileRows& rows, const LaneFields& lanes, const LaneTails& tails, bool canonical,
                                u8 point) {
    constexpr u64 EIGHT = 100'000'000, SIXTEEN = EIGHT * EIGHT;
    const Lane64 zeros = _mm512_set1_epi8('0');
    LaneDecimals result;
    result.negative = first_byte_is(lanes.head, '-') & _mm512_test_epi64_mask(lanes.size, lanes.size);
    const Lane64 signs = _mm512_maskz_set1_epi64(result.negative, 1);
    const Lane64 size = _mm512_sub_epi64(lanes.size, signs);
    const Lane64 head = _mm512_mask_srli_epi64(lanes.head, result.negative, lanes.head, 8);
    result.declined = _mm512_cmpeq_epi64_mask(size, _mm512_setzero_si512());
    if (canonical) {
        // 007 and 00.5 are text; 0 and 0.5 are numbers.
        const Lane64 second = _mm512_and_si512(_mm512_srli_epi64(head, 8), all_lanes(0xFF));
        const __mmask8 point_second = _mm512_cmpeq_epi64_mask(second, all_lanes(point));
        const __mmask8 several = _mm512_cmpgt_epi64_mask(size, all_lanes(1));
        result.declined |= first_byte_is(head, '0') & several & static_cast<__mmask8>(~point_second);
    }
    const Lane64 tail_size = _mm512_min_epi64(size, all_lanes(8));
    const LaneDigits low = digits_of(last_bytes(_mm512_xor_si512(tails.text, zeros), tail_size), point);
    result.mantissa = low.value;
    result.declined |= low.wrong;
    result.has_point = _mm512_test_epi64_mask(low.point, low.point);
    result.decimals = _mm512_maskz_srli_epi64(result.has_point, _mm512_lzcnt_epi64(low.point), 3);
    if (tails.is_long) [[unlikely]] {
        // Bytes of the head that are not the field's sign or quote.
        const Lane64 usable =
            _mm512_sub_epi64(_mm512_sub_epi64(all_lanes(8), signs), _mm512_maskz_set1_epi64(lanes.quoted, 1));
        const Lane64 head_digits = _mm512_xor_si512(head, zeros);
        Lane64 rest = _mm512_sub_epi64(size, tail_size);
        const __mmask8 is_longer = _mm512_cmpgt_epi64_mask(rest, usable);
        const Lane64 middle_size = _mm512_min_epi64(rest, all_lanes(8));
        Lane64 middle = to_end(head_digits, middle_size);
        if (is_longer) [[unlikely]] {
            const Lane64 at = _mm512_sub_epi64(_mm512_add_epi64(lanes.start, lanes.size), all_lanes(16));
            const Lane64 text = _mm512_mask_i64gather_epi64(middle, is_longer, at, rows.text, 1);
            middle = _mm512_mask_mov_epi64(middle, is_longer, last_bytes(_mm512_xor_si512(text, zeros), middle_size));
        }
        result.add(digits_of(middle, point), 8, unit_of(result.has_point, EIGHT));
        if (is_longer) [[unlikely]] {
            rest = _mm512_sub_epi64(rest, middle_size);
            const LaneDigits high = digits_of(to_end(head_digits, rest), point);
            result.declined |=
                _mm512_cmpgt_epi64_mask(rest, usable) | _mm512_cmpge_epu64_mask(high.value, all_lanes(1000));
            result.add(high, 16, unit_of(result.has_point, SIXTEEN));
        }
    }
    result.declined |= result.has_point & _mm512_cmpeq_epi64_mask(size, all_lanes(1));
    return result;
}

// Stores eight integers. Returns the rows whose value the type cannot hold.
template <class T>
HR_HOT __mmask8 store_ints(const LaneDecimals& found, T* values) {
    constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
    constexpr u64 top = ~u64{0} >> (64 - 8 * sizeof(T) + (is_signed ? 1 : 0));
    const __mmask8 negative = is_signed ? found.negative : __mmask8{0};
    const Lane64 value = _mm512_mask_sub_epi64(found.mantissa, negative, _mm512_setzero_si512(), found.mantissa);
    if constexpr (sizeof(T) == 8) {
        _mm512_storeu_si512(values, value);
    } else if constexpr (sizeof(T) == 4) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(values), _mm512_cvtepi64_epi32(value));
    } else if constexpr (sizeof(T) == 2) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(values), _mm512_cvtepi64_epi16(value));
    } else {
        _mm_storel_epi64(reinterpret_cast<__m128i*>(values), _mm512_cvtepi64_epi8(value));
    }
    const Lane64 most = _mm512_mask_add_epi64(all_lanes(top), negative, all_lanes(top), all_lanes(1));
    return _mm512_cmpgt_epu64_mask(found.mantissa, most) | (found.negative & static_cast<__mmask8>(~negative));
}

// Returns the upper 64 bits of products.
HR_HOT Lane64 multiply_high(Lane64 a, Lane64 b) {
    const Lane64 low_half = all_lanes(0xFFFFFFFF);
    const Lane64 a_high = _mm512_srli_epi64(a, 32), b_high = _mm512_srli_epi64(b, 32);
    const Lane64 outer = _mm512_mul_epu32(a_high, b), inner = _mm512_mul_epu32(a, b_high);
    const Lane64 carry =
        _mm512_add_epi64(_mm512_srli_epi64(_mm512_mul_epu32(a, b), 32),
                         _mm512_add_epi64(_mm512_and_si512(outer, low_half), _mm512_and_si512(inner, low_half)));
    const Lane64 upper = _mm512_add_epi64(_mm512_srli_epi64(outer, 32), _mm512_srli_epi64(inner, 32));
    return _mm512_add_epi64(_mm512_add_epi64(_mm512_mul_epu32(a_high, b_high), upper), _mm512_srli_epi64(carry, 32));
}

// Computes the bits of w * 10^power, rounded to nearest, in lanes of `wanted`, by the steps of round_by_product.
// Removes the lanes that it declines from `wanted`.
template <class T>
HR_HOT Lane64 products_of(Lane64 w, Lane64 power, __mmask8& wanted) {
    using Format = FloatFormat<T>;
    constexpr u64 HALF = u64{1} << (63 - Format::precision);
    const auto lanes_of = [](i64 value) { return _mm512_set1_epi64(value); };
    wanted &= _mm512_cmpge_epi64_mask(power, lanes_of(lowest_product_power<T>)) &
              _mm512_cmple_epi64_mask(power, lanes_of(highest_product_power<T>));
    const Lane64 shift = _mm512_lzcnt_epi64(_mm512_or_si512(w, all_lanes(1)));
    const Lane64 place = _mm512_slli_epi64(_mm512_sub_epi64(power, lanes_of(LOWEST_POWER_OF_FIVE)), 1);
    const Lane64 five = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), wanted, place, &POWERS_OF_FIVE[0].high, 8);
    const Lane64 product = multiply_high(_mm512_sllv_epi64(w, shift), five);
    const Lane64 spare = _mm512_srli_epi64(_mm512_andnot_si512(product, all_lanes(~u64{0})), 63);
    const Lane64 top = _mm512_sllv_epi64(product, spare);
    const Lane64 doubt = _mm512_and_si512(_mm512_sub_epi64(top, all_lanes(HALF - 2)), all_lanes(2 * HALF - 1));
    wanted &= _mm512_cmpgt_epu64_mask(doubt, all_lanes(2));
    const Lane64 significand =
        _mm512_srli_epi64(_mm512_add_epi64(_mm512_srli_epi64(top, 63 - Format::precision), all_lanes(1)), 1);
    const Lane64 log2 = _mm512_srai_epi64(_mm512_mul_epi32(power, lanes_of(217706)), 16);
    const Lane64 scale = _mm512_sub_epi64(
        _mm512_sub_epi64(_mm512_add_epi64(log2, lanes_of(64 - Format::smallest_exponent)), shift), spare);
    const Lane64 bits = _mm512_add_epi64(_mm512_slli_epi64(scale, Format::precision - 1), significand);
    return _mm512_maskz_mov_epi64(_mm512_test_epi64_mask(w, w), bits);
}

template <class T>
HR_HOT void store_lane_bits(T* values, __mmask8 some, Lane64 bits) {
    if constexpr (sizeof(T) == 8) {
        _mm512_mask_storeu_epi64(values, some, bits);
    } else {
        _mm512_mask_cvtepi64_storeu_epi32(values, some, bits);
    }
}

// Stores eight floats. If mantissa and power are both exact, one division gives the correctly rounded value (Clinger
// 1990). Otherwise a product does. Returns the rows that it declines; for an inferred column also integers that may be
// rounded.
template <class T>
HR_HOT __mmask8 store_floats(const LaneDecimals& found, const LaneExponents& exponents, bool canonical, T* values) {
    constexpr u64 exact = sizeof(T) == 8 ? u64{1} << 53 : u64{1} << 24;
    constexpr u64 max_decimals = sizeof(T) == 8 ? 15 : 10;
    const __m512d lower = _mm512_setr_pd(1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7);
    const __m512d upper = _mm512_setr_pd(1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15);
    const __m512d power = _mm512_permutex2var_pd(lower, found.decimals, upper);
    const __m512d mantissa = _mm512_cvtepu64_pd(found.mantissa);
    const __mmask8 inexact = _mm512_cmpgt_epu64_mask(found.mantissa, all_lanes(exact)) |
                             _mm512_cmpgt_epu64_mask(found.decimals, all_lanes(max_decimals)) | exponents.present;
    const Lane64 sign = _mm512_maskz_set1_epi64(found.negative, static_cast<i64>(u64{1} << (8 * sizeof(T) - 1)));
    if constexpr (sizeof(T) == 8) {
        const Lane64 quotient = _mm512_castpd_si512(_mm512_div_pd(mantissa, power));
        _mm512_storeu_si512(values, _mm512_or_si512(quotient, sign));
    } else {
        const __m256 quotient = _mm256_div_ps(_mm512_cvtpd_ps(mantissa), _mm512_cvtpd_ps(power));
        const __m256i bits = _mm256_or_si256(_mm256_castps_si256(quotient), _mm512_cvtepi64_epi32(sign));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(values), bits);
    }
    if (inexact == 0) return 0;
    __mmask8 decided = canonical ? inexact & (found.has_point | exponents.present) : inexact;
    const Lane64 bits = products_of<T>(found.mantissa, _mm512_sub_epi64(exponents.value, found.decimals), decided);
    store_lane_bits(values, decided, _mm512_or_si512(bits, sign));
    return inexact & static_cast<__mmask8>(~decided);
}

HR_END_NAMESPACE

#pragma GCC diagnostic pop
#endif
