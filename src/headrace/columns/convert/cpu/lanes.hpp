// Converts eight rows of a column at once with AVX-512, one row per 64-bit lane. Each function converts the rows whose
// text has the common shape and returns the others as a bit mask. The shared rules convert those one by one. Text up to
// 16 bytes after each field's start must be readable.
#pragma once

#include "columns/convert/cpu/field.hpp"
#include "core/cpu/simd.hpp"

#if defined(HR_ISA_AVX512)

// Masks are 8 bits wide, and C++ widens the result of an operation on two of them to int.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"

HR_BEGIN_NAMESPACE

constexpr usize LANES = 8;
using Lane64 = __m512i;

HR_HOT Lane64 all_lanes(u64 value) { return _mm512_set1_epi64(static_cast<i64>(value)); }
HR_HOT Lane64 gather8(const u8* text, Lane64 at) { return _mm512_i64gather_epi64(at, text, 1); }

// Eight fields: their starts and sizes.
struct LaneFields {
    Lane64 start, size;
    __mmask8 quoted;
    Lane64 head;  // the first eight bytes
};

HR_HOT Lane64 index_entries(const u32* from, __m256i at) {
    return _mm512_cvtepu32_epi64(_mm256_i32gather_epi32(reinterpret_cast<const int*>(from), at, 4));
}

// Index entries of eight rows. A field's start and end are often adjacent entries, which one load of eight bytes reads.
struct LaneEntries {
    __m256i at;

    explicit LaneEntries(usize stride)
        : at(_mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                                _mm256_set1_epi32(static_cast<int>(stride)))) {}

    // Returns the sizes of fields from an entry on; `distance`: between the entries of an empty field.
    Lane64 sizes(const u32* start, u32 distance) const {
        const Lane64 both = _mm512_i32gather_epi64(at, start, 4);
        const Lane64 begin = _mm512_and_si512(both, all_lanes(0xFFFFFFFF));
        return _mm512_sub_epi64(_mm512_sub_epi64(_mm512_srli_epi64(both, 32), begin), all_lanes(distance));
    }
};

HR_HOT LaneFields load_fields(const TileRows& rows, const ColumnFields& fields, usize row) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i at = _mm256_mullo_epi32(lane, _mm256_set1_epi32(static_cast<int>(fields.stride())));
    LaneFields lanes;
    const u32* const starts = fields.starts() + row * fields.start_stride();
    if (fields.start_stride() == 1) {
        lanes.start = _mm512_cvtepu32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(starts)));
    } else {
        lanes.start = index_entries(starts, at);
    }
    lanes.start = _mm512_add_epi64(lanes.start, all_lanes(fields.start_offset()));
    const Lane64 ends = index_entries(fields.ends() + row * fields.stride(), at);
    lanes.size = _mm512_sub_epi64(_mm512_sub_epi64(ends, all_lanes(fields.back())), lanes.start);
    lanes.head = gather8(rows.text, lanes.start);
    lanes.quoted = 0;
    return lanes;
}

HR_HOT __mmask8 first_byte_is(Lane64 head, u8 byte) {
    return _mm512_cmpeq_epi64_mask(_mm512_and_si512(head, all_lanes(0xFF)), all_lanes(byte));
}

// A few null words, each of one to eight bytes, to be compared with the heads of fields.
class NullLanes {
public:
    NullLanes() = default;

    // Takes the words of a column, or none if they are too many, too long, or begin with a quote.
    NullLanes(const FieldRules& rules, int quote) {
        for (usize i = 0; i < rules.nulls.count; ++i) {
            const auto& [text, size] = rules.nulls.words[i];
            if (size == 0) continue;
            if (count_ == MAX || size > 8 || *text == quote) {
                count_ = 0;
                return;
            }
            u64 word = 0;
            __builtin_memcpy(&word, text, size);
            words_[count_++] = {word, ~u64{0} >> (64 - 8 * size), size};
        }
    }

    bool any() const { return count_ != 0; }

    // Returns the fields that are one of the words, without quotes.
    __mmask8 among(const LaneFields& lanes) const {
        __mmask8 found = 0;
        for (usize i = 0; i < count_; ++i) {
            const __mmask8 sized = _mm512_cmpeq_epi64_mask(lanes.size, all_lanes(words_[i].size));
            const Lane64 text = _mm512_and_si512(lanes.head, all_lanes(words_[i].bytes));
            found |= _mm512_mask_cmpeq_epi64_mask(sized, text, all_lanes(words_[i].word));
        }
        return found;
    }

private:
    static constexpr usize MAX = 8;
    struct NullWord {
        u64 word, bytes, size;
    };
    NullWord words_[MAX];
    usize count_ = 0;
};

// Removes enclosing quotes. Seven bytes of the head remain after the first quote.
HR_HOT void strip_quotes(LaneFields& lanes, u8 quote) {
    const __mmask8 at_least_two = _mm512_cmpgt_epi64_mask(lanes.size, all_lanes(1));
    lanes.quoted = first_byte_is(lanes.head, quote) & at_least_two;
    lanes.start = _mm512_mask_add_epi64(lanes.start, lanes.quoted, lanes.start, all_lanes(1));
    lanes.size = _mm512_mask_sub_epi64(lanes.size, lanes.quoted, lanes.size, all_lanes(2));
    lanes.head = _mm512_mask_srli_epi64(lanes.head, lanes.quoted, lanes.head, 8);
}

// Reads two-digit numbers at up to four byte pairs per lane, as 16-bit parts.
HR_HOT Lane64 pairs_of(Lane64 text, u64 which) {
    const Lane64 digits = _mm512_and_si512(text, _mm512_set1_epi8(0xF));
    const Lane64 upper = _mm512_set1_epi64(0x0808080808080808);
    const Lane64 odd_lane = _mm512_setr_epi64(0, -1, 0, -1, 0, -1, 0, -1);
    // A shuffle indexes bytes within 128 bits, so the indices of every second lane are eight higher.
    const Lane64 order = _mm512_add_epi8(all_lanes(which), _mm512_and_si512(odd_lane, upper));
    return _mm512_maddubs_epi16(_mm512_shuffle_epi8(digits, order), _mm512_set1_epi16(1 << 8 | 10));
}

HR_HOT __mmask8 lanes_shaped(Lane64 text, const char (&shape)[9], u64 limits) {
    u64 wanted;
    __builtin_memcpy(&wanted, shape, 8);
    const Lane64 over = _mm512_sub_epi8(text, all_lanes(wanted));
    const Lane64 wrong = _mm512_maskz_set1_epi8(_mm512_cmpgt_epu8_mask(over, all_lanes(limits)), 1);
    return _mm512_testn_epi64_mask(wrong, wrong);
}

// Returns the days since 1970-01-01 for "2019-01-31". Clears the bits in `fine` of rows that are no such date.
HR_HOT Lane64 days_of_lanes(Lane64 head, Lane64 day_text, __mmask8& fine) {
    fine &= lanes_shaped(head, "0000-00-", 0x0009090009090909) &
            lanes_shaped(day_text, "00\0\0\0\0\0\0", 0xFFFFFFFFFFFF0909);
    const Lane64 numbers = pairs_of(head, 0x0000060503020100);
    const Lane64 part = all_lanes(0xFFFF);
    const Lane64 century = _mm512_and_si512(numbers, part);
    const Lane64 year = _mm512_add_epi64(_mm512_mul_epu32(century, all_lanes(100)),
                                         _mm512_and_si512(_mm512_srli_epi64(numbers, 16), part));
    const Lane64 month = _mm512_and_si512(_mm512_srli_epi64(numbers, 32), part);
    const Lane64 day = _mm512_and_si512(pairs_of(day_text, 0x0100), part);
    const Lane64 short_year = _mm512_sub_epi64(year, _mm512_mul_epu32(century, all_lanes(100)));
    const __mmask8 full_century = _mm512_testn_epi64_mask(short_year, short_year);
    const __mmask8 leap = (_mm512_testn_epi64_mask(year, all_lanes(3)) & ~full_century) |
                          (full_century & _mm512_testn_epi64_mask(century, all_lanes(3)));
    const Lane64 before =
        _mm512_zextsi256_si512(_mm256_setr_epi16(0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 0, 0, 0));
    const Lane64 lengths =
        _mm512_zextsi256_si512(_mm256_setr_epi16(0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0));
    const __mmask8 february = _mm512_cmpeq_epi64_mask(month, all_lanes(2));
    const Lane64 length = _mm512_permutexvar_epi16(month, lengths);
    const Lane64 longest = _mm512_mask_add_epi64(length, leap & february, length, all_lanes(1));
    fine &= _mm512_cmple_epu64_mask(month, all_lanes(12)) & _mm512_cmple_epu64_mask(day, longest) &
            _mm512_test_epi64_mask(day, day);
    // Leap days of the preceding years, from year 0 on; only every fourth century adds one.
    const Lane64 centuries =
        _mm512_srli_epi64(_mm512_mul_epu32(_mm512_add_epi64(year, all_lanes(99)), all_lanes(5243)), 19);
    Lane64 days = _mm512_add_epi64(_mm512_mul_epu32(year, all_lanes(365)), _mm512_permutexvar_epi16(month, before));
    days = _mm512_add_epi64(days, _mm512_srli_epi64(_mm512_add_epi64(year, all_lanes(3)), 2));
    days = _mm512_sub_epi64(days, centuries);
    days = _mm512_add_epi64(days, _mm512_srli_epi64(_mm512_add_epi64(centuries, all_lanes(3)), 2));
    days = _mm512_mask_add_epi64(days, leap & _mm512_cmpgt_epi64_mask(month, all_lanes(2)), days, all_lanes(1));
    return _mm512_add_epi64(days, _mm512_sub_epi64(day, all_lanes(719529)));
}

// Returns the seconds of "+05:30" in `some` rows, read as fast_offset does.
HR_HOT Lane64 offset_of_lanes(Lane64 text, __mmask8 some, __mmask8& fine) {
    const Lane64 sign = _mm512_sub_epi64(_mm512_and_si512(text, all_lanes(0xFF)), all_lanes('+'));
    const Lane64 shape = all_lanes(0x30303A3030), byte = all_lanes(0xFF);
    const Lane64 digits =
        _mm512_xor_si512(_mm512_and_si512(_mm512_srli_epi64(text, 8), all_lanes(0xFFFFFFFFFF)), shape);
    const Lane64 above = _mm512_or_si512(_mm512_add_epi64(digits, all_lanes(0x76767F7676)), digits);
    const Lane64 tens = _mm512_add_epi64(_mm512_slli_epi64(digits, 3), _mm512_slli_epi64(digits, 1));
    const Lane64 numbers = _mm512_add_epi64(tens, _mm512_srli_epi64(digits, 8));
    const Lane64 hour = _mm512_and_si512(numbers, byte);
    const Lane64 minute = _mm512_and_si512(_mm512_srli_epi64(numbers, 24), byte);
    const __mmask8 valid =
        _mm512_testn_epi64_mask(sign, all_lanes(~u64{2})) & _mm512_testn_epi64_mask(above, all_lanes(0x8080808080)) &
        _mm512_cmplt_epu64_mask(hour, all_lanes(24)) & _mm512_cmplt_epu64_mask(minute, all_lanes(60));
    fine &= valid | static_cast<__mmask8>(~some);
    const Lane64 minutes = _mm512_add_epi64(_mm512_mul_epu32(hour, all_lanes(60)), minute);
    const Lane64 seconds = _mm512_mul_epu32(minutes, all_lanes(60));
    return _mm512_mask_sub_epi64(seconds, _mm512_test_epi64_mask(sign, sign), _mm512_setzero_si512(), seconds);
}

// Returns the seconds of "23:59:58".
HR_HOT Lane64 time_of_lanes(Lane64 text, __mmask8& fine) {
    fine &= lanes_shaped(text, "00:00:00", 0x0909000909000909);
    const Lane64 numbers = pairs_of(text, 0x0000070604030100);
    const Lane64 part = all_lanes(0xFFFF);
    const Lane64 hour = _mm512_and_si512(numbers, part);
    const Lane64 minute = _mm512_and_si512(_mm512_srli_epi64(numbers, 16), part);
    const Lane64 second = _mm512_and_si512(_mm512_srli_epi64(numbers, 32), part);
    fine &= _mm512_cmplt_epu64_mask(hour, all_lanes(24)) & _mm512_cmplt_epu64_mask(minute, all_lanes(60)) &
            _mm512_cmplt_epu64_mask(second, all_lanes(60));
    const Lane64 minutes = _mm512_add_epi64(_mm512_mul_epu32(hour, all_lanes(60)), minute);
    return _mm512_add_epi64(_mm512_mul_epu32(minutes, all_lanes(60)), second);
}

HR_END_NAMESPACE

#pragma GCC diagnostic pop
#endif
