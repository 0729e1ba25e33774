// Reads what follows "2019-01-31 23:59:58" in eight timestamps at once, with AVX-512: a fraction, and Z or an offset.
#pragma once

#include "columns/convert/cpu/number_lanes.hpp"

#if defined(HR_ISA_AVX512)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"

HR_BEGIN_NAMESPACE

constexpr u64 CLOCK_BYTES = 19, MINUTE_BYTES = 16;  // "2019-01-31 23:59:58", "2019-01-31 23:59"

// The rest of eight timestamps. Rows that are not in `fine` are left.
struct LaneTimeEnds {
    Lane64 offset;    // seconds east of UTC
    Lane64 fraction;  // in units
    __mmask8 is_instant;
    __mmask8 fine;
};

// Reads the fraction in `some` rows: a point, and `count` digits. With microseconds, the digits of ".25" are moved to
// the place of the last six of eight: 00250000. Clears the bits in `some` of rows with other bytes, or more than seven
// digits or `unit_digits`.
HR_HOT Lane64 fraction_of_lanes(Lane64 text, Lane64 count, u64 unit_digits, __mmask8& some) {
    const Lane64 first =
        _mm512_srlv_epi64(all_lanes(~u64{0}), _mm512_sub_epi64(all_lanes(64), _mm512_slli_epi64(count, 3)));
    const Lane64 all = _mm512_xor_si512(_mm512_srli_epi64(text, 8), _mm512_set1_epi8('0'));
    const Lane64 digits = _mm512_and_si512(all, first);
    const u64 places = unit_digits < 7 ? unit_digits : 7;
    some &= _mm512_cmplt_epu64_mask(_mm512_sub_epi64(count, all_lanes(1)), all_lanes(places)) &
            ~lanes_with(_mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9)));
    const u64 unit_places = unit_digits < 8 ? unit_digits : 8;
    const Lane64 fraction = sum_lane_digits(_mm512_sllv_epi64(digits, all_lanes(64 - 8 * unit_places)));
    return _mm512_maskz_mullo_epi64(some, fraction, all_lanes(unit_digits == 9 ? 10 : 1));
}

// Reads "", ".25", "Z", ".25Z" and "+05:30". `unit_digits`: of a fraction in units.
HR_HOT LaneTimeEnds read_time_ends(const TileRows& rows, const LaneFields& lanes, u64 unit_digits) {
    const Lane64 rest = _mm512_sub_epi64(lanes.size, all_lanes(CLOCK_BYTES)), one = all_lanes(1);
    LaneTimeEnds found{_mm512_setzero_si512(), _mm512_setzero_si512(), 0, _mm512_testn_epi64_mask(rest, rest)};
    const Lane64 last = _mm512_sub_epi64(rest, one);
    const __mmask8 longer = _mm512_cmplt_epu64_mask(last, all_lanes(8));
    if (longer == 0) return found;
    const Lane64 text = gather8(rows.text + CLOCK_BYTES, lanes.start);
    const __mmask8 has_point = longer & first_byte_is(text, '.');
    __mmask8 with_offset = longer & ~has_point & _mm512_cmpeq_epi64_mask(rest, all_lanes(6));
    if (with_offset != longer) {
        const __mmask8 has_z = longer & first_byte_is(_mm512_srlv_epi64(text, _mm512_slli_epi64(last, 3)), 'Z');
        __mmask8 with_fraction = has_point;
        if (has_point != 0) {
            const Lane64 count = _mm512_mask_sub_epi64(last, has_z, last, one);
            found.fraction = fraction_of_lanes(text, count, unit_digits, with_fraction);
        }
        found.fine |= with_fraction | (has_z & _mm512_cmpeq_epi64_mask(rest, one));
        found.is_instant = has_z;
    }
    if (with_offset != 0) {
        const Lane64 offset = offset_of_lanes(text, with_offset, with_offset);
        found.offset = _mm512_maskz_mov_epi64(with_offset, offset);
        found.fine |= with_offset;
        found.is_instant |= with_offset;
    }
    return found;
}

HR_END_NAMESPACE

#pragma GCC diagnostic pop
#endif
