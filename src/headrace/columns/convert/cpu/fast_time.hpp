// Reads dates, timestamps and times of the common shapes "2019-01-31", "2019-01-31 23:59:58" (or with a T) and
// "23:59:58" (or with a fraction). Each fast form returns what rules/dates/parse_date.hpp and parse_time.hpp return, or
// declines. 19 bytes from `p` on must be readable.
#pragma once

#include "columns/convert/cpu/short_digits.hpp"
#include "columns/rules/dates/parse_date.hpp"
#include "columns/rules/numbers/parse_decimal.hpp"
#include "core/cpu/simd.hpp"

HR_BEGIN_NAMESPACE

// Reads "23:59:58" as one word. After subtracting "00:00:00", each byte is a digit, or 0 at the colons. Then neighbours
// are merged to two-digit numbers, which are 24 bits apart.
HR_FN bool fast_clock(const u8* p, i64& seconds) {
    u64 word;
    __builtin_memcpy(&word, p, 8);
    constexpr u64 SHAPE = 0x30303A30303A3030;
    constexpr u64 ABOVE_LIMITS = 0x76767F76767F7676;  // sets the top bit of a digit above 9 and of a colon byte above 0
    const u64 digits = word ^ SHAPE;
    if (((digits + ABOVE_LIMITS) | digits) & 0x8080808080808080) return false;
    const u64 numbers = digits * 10 + (digits >> 8);
    const u64 hour = numbers & 0xFF, minute = numbers >> 24 & 0xFF, second = numbers >> 48 & 0xFF;
    if (hour > 23 || minute > 59 || second > 59) return false;
    seconds = static_cast<i64>((hour * 60 + minute) * 60 + second);
    return true;
}

// Reads a time of day in units, with a fraction of up to eight digits that the unit can hold: "23:59:58.25" with 1000
// units per second.
HR_FN bool fast_time_of_day(const u8* p, usize n, i64 units_per_second, i64& out) {
    if (n < 8 || n > 17) return false;
    i64 seconds;
    if (!fast_clock(p, seconds)) return false;
    out = seconds * units_per_second;
    if (n == 8) return true;
    u64 fraction;
    if (n == 9 || p[8] != '.' || !short_digits(p + 9, n - 9, fraction)) return false;
    const i64 parts = static_cast<i64>(POWERS_OF_TEN[n - 9]);
    if (parts > units_per_second) return false;
    out += static_cast<i64>(fraction) * (units_per_second / parts);
    return true;
}

#if defined(HR_ISA_AVX512) || defined(HR_ISA_AVX2)

// Days before each month of a common year, and days of each month. Index 1 is January; 0 and 13 to 15 have no days.
HR_CONSTANT u16 DAYS_BEFORE[16] = {0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 0, 0, 0};
HR_CONSTANT u8 DAYS_IN[16] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0};

HR_FN bool days_of(u32 year, u32 month, u32 day, i64& days) {
    if (month > 12) return false;
    const u32 leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0));
    if (day - 1 >= DAYS_IN[month] + (leap & (month == 2))) return false;
    // Leap days of the preceding years from year 0 on, which is a leap year. 0000-01-01 is 719528 days before
    // 1970-01-01.
    const u32 before = year + 3;
    const u32 leap_days = year == 0 ? 0 : before / 4 - (year + 99) / 100 + (year + 399) / 400;
    const u32 of_year = DAYS_BEFORE[month] + (leap & (month > 2)) + day - 1;
    days = static_cast<i64>(year) * 365 + leap_days + of_year - 719528;
    return true;
}

// Returns whether bytes are digits where `limits` is 9, and equal the template where it is 0.
HR_FN bool has_shape(__m128i text, __m128i shape, __m128i limits, u32 lanes) {
    const __m128i over = _mm_sub_epi8(text, shape);
    const __m128i fits = _mm_cmpeq_epi8(_mm_min_epu8(over, limits), over);
    return (static_cast<u32>(_mm_movemask_epi8(fits)) & lanes) == lanes;
}

// Returns two-digit numbers at the given byte pairs as 16-bit lanes.
HR_FN __m128i two_digit_numbers(__m128i text, __m128i pairs) {
    const __m128i digits = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    return _mm_maddubs_epi16(_mm_shuffle_epi8(digits, pairs), _mm_set1_epi16(1 << 8 | 10));
}

HR_FN bool fast_date(const u8* p, usize n, i64& days) {
    if (n != 10) return false;
    const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i shape = _mm_setr_epi8('0', '0', '0', '0', '-', '0', '0', '-', '0', '0', 0, 0, 0, 0, 0, 0);
    const __m128i limits = _mm_setr_epi8(9, 9, 9, 9, 0, 9, 9, 0, 9, 9, -1, -1, -1, -1, -1, -1);
    if (!has_shape(text, shape, limits, 0x3FF)) return false;
    const __m128i pairs = _mm_setr_epi8(0, 1, 2, 3, 5, 6, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1);
    const u64 numbers = static_cast<u64>(_mm_cvtsi128_si64(two_digit_numbers(text, pairs)));
    const u32 year = static_cast<u32>((numbers & 0xFFFF) * 100 + (numbers >> 16 & 0xFFFF));
    return days_of(year, numbers >> 32 & 0xFFFF, static_cast<u32>(numbers >> 48), days);
}

HR_FN bool fast_timestamp(const u8* p, usize n, i64& seconds) {
    if (n != 19) return false;
    // "2019-01-31 23:59" and, three bytes on, "9-01-31 23:59:58": the second vector has everything but the year's first
    // three digits.
    const __m128i head = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i tail = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 3));
    const __m128i shape = _mm_setr_epi8('0', '-', '0', '0', '-', '0', '0', ' ', '0', '0', ':', '0', '0', ':', '0', '0');
    const __m128i limits = _mm_setr_epi8(9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9);
    const u32 any_separator = p[10] == 'T' ? 0xFF7F : 0xFFFF;
    if (!has_shape(tail, shape, limits, any_separator)) return false;
    if (!has_shape(head, _mm_set1_epi8('0'), _mm_set1_epi8(9), 0x7)) return false;
    const __m128i head_pairs = _mm_setr_epi8(0, 1, 2, 3, 5, 6, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m128i tail_pairs = _mm_setr_epi8(8, 9, 11, 12, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const u64 date = static_cast<u64>(_mm_cvtsi128_si64(two_digit_numbers(head, head_pairs)));
    const u64 time = static_cast<u64>(_mm_cvtsi128_si64(two_digit_numbers(tail, tail_pairs)));
    const u32 year = static_cast<u32>((date & 0xFFFF) * 100 + (date >> 16 & 0xFFFF));
    const u32 hour = time & 0xFFFF, minute = time >> 16 & 0xFFFF, second = static_cast<u32>(time >> 32);
    i64 days;
    if (hour > 23 || minute > 59 || second > 59) return false;
    if (!days_of(year, date >> 32 & 0xFFFF, static_cast<u32>(date >> 48), days)) return false;
    seconds = days * 86400 + hour * 3600 + minute * 60 + second;
    return true;
}

#else

HR_FN bool fast_date(const u8*, usize, i64&) { return false; }
HR_FN bool fast_timestamp(const u8*, usize, i64&) { return false; }

#endif

HR_END_NAMESPACE
