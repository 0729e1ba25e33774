// Reads dates, timestamps and times of common shapes: "2019-01-31"; "2019-01-31 23:59", with seconds, a fraction and an
// offset, or with a T; "23:59:58", with a fraction; and formats whose parts have fixed widths. Each fast form returns
// what the rules in rules/dates return, or declines. 64 bytes from `p` on must be readable.
#pragma once

#include "columns/convert/cpu/short_digits.hpp"
#include "columns/rules/dates/date_layout.hpp"
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

// Returns the text with '-' in place of the '/' of a date such as 2019/01/31; they differ in one bit. `marks` has this
// bit at their places.
HR_FN __m128i with_hyphens(__m128i text, bool has_slashes, __m128i marks) {
    return has_slashes ? _mm_xor_si128(text, marks) : text;
}

HR_FN bool fast_date(const u8* p, usize n, i64& days) {
    if (n != 10) return false;
    const __m128i marks = _mm_setr_epi8(0, 0, 0, 0, '-' ^ '/', 0, 0, '-' ^ '/', 0, 0, 0, 0, 0, 0, 0, 0);
    const __m128i text = with_hyphens(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)), p[4] == '/', marks);
    const __m128i shape = _mm_setr_epi8('0', '0', '0', '0', '-', '0', '0', '-', '0', '0', 0, 0, 0, 0, 0, 0);
    const __m128i limits = _mm_setr_epi8(9, 9, 9, 9, 0, 9, 9, 0, 9, 9, -1, -1, -1, -1, -1, -1);
    if (!has_shape(text, shape, limits, 0x3FF)) return false;
    const __m128i pairs = _mm_setr_epi8(0, 1, 2, 3, 5, 6, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1);
    const u64 numbers = static_cast<u64>(_mm_cvtsi128_si64(two_digit_numbers(text, pairs)));
    const u32 year = static_cast<u32>((numbers & 0xFFFF) * 100 + (numbers >> 16 & 0xFFFF));
    return days_of(year, numbers >> 32 & 0xFFFF, static_cast<u32>(numbers >> 48), days);
}

// Converts parts, of which no year has more than four digits.
HR_FN bool seconds_of(u32 year, u64 date, u64 time, i64& seconds) {
    const u32 hour = time & 0xFFFF, minute = time >> 16 & 0xFFFF, second = static_cast<u32>(time >> 32);
    i64 days;
    if (hour > 23 || minute > 59 || second > 59) return false;
    if (!days_of(year, date >> 32 & 0xFFFF, static_cast<u32>(date >> 48), days)) return false;
    seconds = days * 86400 + hour * 3600 + minute * 60 + second;
    return true;
}

// Reads one to nine digits of a second's fraction, and moves `at` past them.
HR_FN bool fast_fraction(const u8* p, usize n, usize& at, Timestamp& t) {
    const __m128i digits = _mm_sub_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + at)), _mm_set1_epi8('0'));
    const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
    const u32 others = ~static_cast<u32>(_mm_movemask_epi8(is_digit));
    const usize found = static_cast<usize>(trailing_zeros(others)), left = n - at;
    const usize count = found < left ? found : left;
    if (count - 1 >= 9) return false;
    const usize in_word = count < 8 ? count : 8;
    u64 value;
    if (!short_digits(p + at, in_word, value)) return false;
    t.nanoseconds = static_cast<u32>(value * POWERS_OF_TEN[9 - in_word]);
    if (count == 9) t.nanoseconds += p[at + 8] - u32{'0'};
    t.fraction_digits = static_cast<u8>(count);
    at += count;
    return true;
}

// Reads the offset that ends the text, and makes `t` an instant. An offset such as "+05:30" is read as a word, as
// fast_clock does. Its sign is unpredictable, so there is no branch for it.
HR_FN bool fast_offset(const u8* p, usize n, usize at, Timestamp& t) {
    if (n - at == 6) {
        u64 word;
        __builtin_memcpy(&word, p + at, 8);
        const u64 sign = (word & 0xFF) - '+';  // 0, or 2 for '-'
        const u64 digits = (word >> 8 & 0xFFFFFFFFFF) ^ 0x30303A3030;
        if ((sign & ~u64{2}) != 0 || (((digits + 0x76767F7676) | digits) & 0x8080808080) != 0) return false;
        const u64 numbers = digits * 10 + (digits >> 8);
        const u64 hour = numbers & 0xFF, minute = numbers >> 24 & 0xFF;
        if (hour > 23 || minute > 59) return false;
        t.seconds += static_cast<i64>((hour * 60 + minute) * 60) * (static_cast<i64>(sign) - 1);
        t.has_offset = true;
        return true;
    }
    i64 offset_seconds;
    if (at >= n || !read_offset(p, n, at, offset_seconds)) return false;
    t.seconds -= offset_seconds;
    t.has_offset = true;
    return true;
}

// Reads "2019-01-31 23:59:58", ":58" being optional, or the same with slashes.
HR_FN bool fast_date_and_time(const u8* p, bool has_seconds, i64& seconds) {
    // "2019-01-31 23:59" and, three bytes on, "9-01-31 23:59:58": the second vector has everything but the year's first
    // three digits.
    const __m128i head = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i marks = _mm_setr_epi8(0, '-' ^ '/', 0, 0, '-' ^ '/', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    __m128i tail = with_hyphens(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 3)), p[4] == '/', marks);
    const __m128i shape = _mm_setr_epi8('0', '-', '0', '0', '-', '0', '0', ' ', '0', '0', ':', '0', '0', ':', '0', '0');
    const __m128i limits = _mm_setr_epi8(9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9);
    if (!has_seconds) {
        const __m128i missing = _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1);
        tail = _mm_blendv_epi8(tail, shape, missing);
    }
    const u32 any_separator = p[10] == 'T' ? 0xFF7F : 0xFFFF;
    if (!has_shape(tail, shape, limits, any_separator)) return false;
    if (!has_shape(head, _mm_set1_epi8('0'), _mm_set1_epi8(9), 0x7)) return false;
    const __m128i head_pairs = _mm_setr_epi8(0, 1, 2, 3, 5, 6, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m128i tail_pairs = _mm_setr_epi8(8, 9, 11, 12, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const u64 date = static_cast<u64>(_mm_cvtsi128_si64(two_digit_numbers(head, head_pairs)));
    const u64 time = static_cast<u64>(_mm_cvtsi128_si64(two_digit_numbers(tail, tail_pairs)));
    return seconds_of(static_cast<u32>((date & 0xFFFF) * 100 + (date >> 16 & 0xFFFF)), date, time, seconds);
}

// Reads a timestamp of ISO 8601.
HR_FN bool fast_timestamp(const u8* p, usize n, Timestamp& t) {
    t = {};
    if (n == 10) {
        i64 days;
        if (!fast_date(p, n, days)) return false;
        t.seconds = days * 86400;
        t.date_only = true;
        return true;
    }
    if ((n < 19 && n != 16) || !fast_date_and_time(p, n != 16, t.seconds)) return false;
    usize at = n != 16 ? 19 : 16;
    if (at < n && p[at] == '.' && !fast_fraction(p, n, ++at, t)) return false;
    return at == n || fast_offset(p, n, at, t);
}

// Reads a text by a layout: a permutation of its bytes gives the parts in order.
HR_FN bool read_layout(const DateLayout& layout, const u8* p, usize n, Timestamp& t) {
    if (n < layout.size) return false;
    const auto vector = [](const u8* bytes) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)); };
    const __m128i head = vector(p), tail = vector(p + 16);
    if (!has_shape(head, vector(layout.shape), vector(layout.limit), 0xFFFF) ||
        !has_shape(tail, vector(layout.shape + 16), vector(layout.limit + 16), 0xFFFF)) {
        return false;
    }
    const __m128i numbers =
        _mm_add_epi16(two_digit_numbers(head, vector(layout.low)), two_digit_numbers(tail, vector(layout.high)));
    u64 date = static_cast<u64>(_mm_cvtsi128_si64(numbers)), time = static_cast<u64>(_mm_extract_epi64(numbers, 1));
    u32 year = static_cast<u32>((date & 0xFFFF) * 100 + (date >> 16 & 0xFFFF));
    if (layout.has_short_year) year += year >= 69 ? 1900 : 2000;
    if (layout.month_name != DateLayout::NO_PLACE) {
        u32 letters;
        __builtin_memcpy(&letters, p + layout.month_name, 4);
        date |= u64{month_of_letters(letters)} << 32;
    }
    if (layout.half != DateLayout::NO_PLACE) {
        const u32 hour = time & 0xFFFF, half = p[layout.half] | 0x20;
        if (hour - 1 > 11 || (half != 'a' && half != 'p') || (p[layout.half + 1] | 0x20) != 'm') return false;
        time = time - hour + hour % 12 + (half == 'p' ? 12 : 0);
    }
    t = {};
    t.date_only = !layout.has_time;
    if (!seconds_of(year, date, time, t.seconds)) return false;
    usize at = layout.size;
    if (layout.has_fraction && !fast_fraction(p, n, at, t)) return false;
    return layout.has_offset ? fast_offset(p, n, at, t) : at == n;
}

#else

HR_FN bool fast_date(const u8*, usize, i64&) { return false; }
HR_FN bool fast_timestamp(const u8*, usize, Timestamp&) { return false; }
HR_FN bool read_layout(const DateLayout&, const u8*, usize, Timestamp&) { return false; }

#endif

// Converts a timestamp whose fraction has no more digits than the unit.
HR_FN bool fast_scale(const Timestamp& t, i64 units_per_second, i64& out) {
    i64 fraction = 0, whole;
    if (t.fraction_digits != 0) {
        const u32 unit_digits = units_per_second == 1'000'000 ? 6 : units_per_second == 1'000'000'000 ? 9 : 3;
        if (units_per_second == 1 || t.fraction_digits > unit_digits) return false;
        // Divisions by constants.
        fraction = unit_digits == 6   ? t.nanoseconds / 1000
                   : unit_digits == 9 ? t.nanoseconds
                                      : t.nanoseconds / 1'000'000;
    }
    return !__builtin_mul_overflow(t.seconds, units_per_second, &whole) &&
           !__builtin_add_overflow(whole, fraction, &out);
}

HR_END_NAMESPACE
