// Text to dates and timestamps, in the proleptic Gregorian calendar (ISO 8601), years 0000 to 9999.
#pragma once

#include "columns/rules/digits.hpp"
#include "columns/rules/status.hpp"
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Days from 1970-01-01, e.g. 2000-03-01 -> 11017. The idea is from Howard Hinnant's "chrono-compatible low-level date
// algorithms": let the year begin in March, so that the leap day is its last day and the months before it have fixed
// starts. Months from March on repeat 31 30 31 30 31, so month k (March is 0) starts at day (153 k + 2) / 5.
HR_FN i64 days_from_civil(i32 year, u32 month, u32 day) {
    const i64 y = static_cast<i64>(year) - (month <= 2 ? 1 : 0);
    const i64 era = (y >= 0 ? y : y - 399) / 400;  // 400 years are 146097 days, whichever they are
    const i64 year_of_era = y - era * 400;
    const i64 months_since_march = month > 2 ? month - 3 : month + 9;
    const i64 day_of_year = (153 * months_since_march + 2) / 5 + day - 1;
    const i64 day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    constexpr i64 DAYS_FROM_0000_03_01_TO_1970_01_01 = 719468;
    return era * 146097 + day_of_era - DAYS_FROM_0000_03_01_TO_1970_01_01;
}

HR_FN bool valid_date(i32 year, u32 month, u32 day) {
    if (month < 1 || month > 12 || day < 1) return false;
    if (day <= 28) return true;
    if (month == 2) return day == 29 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    // Odd months have 31 days up to July, even ones from August (8, so month / 8 is 1) on.
    return day <= 30 + (month + month / 8) % 2;
}

// Two digits as a number of at most `largest`: "59" -> 59.
HR_FN bool read_two_digits(const u8* p, u32 largest, u32& out) {
    if (!is_digit(p[0]) || !is_digit(p[1])) return false;
    out = (p[0] - u32{'0'}) * 10 + (p[1] - u32{'0'});
    return out <= largest;
}

// The ten bytes YYYY-MM-DD.
HR_FN bool read_date(const u8* p, i64& days) {
    u32 century, year_of_century, month, day;
    if (p[4] != '-' || p[7] != '-') return false;
    if (!read_two_digits(p, 99, century) || !read_two_digits(p + 2, 99, year_of_century)) return false;
    if (!read_two_digits(p + 5, 12, month) || !read_two_digits(p + 8, 31, day)) return false;
    const i32 year = static_cast<i32>(century * 100 + year_of_century);
    if (!valid_date(year, month, day)) return false;
    days = days_from_civil(year, month, day);
    return true;
}

// Exactly YYYY-MM-DD; `out` is the number of days from 1970-01-01.
HR_FN Parse parse_date32(const u8* p, usize n, i32& out) {
    i64 days;
    if (n != 10 || !read_date(p, days)) return Parse::invalid;
    out = static_cast<i32>(days);
    return Parse::ok;
}

// A point in time: seconds from 1970-01-01T00:00:00, rounded down, and the nanoseconds after them. With an offset the
// seconds are UTC: 12:00+02:00 and 10:00Z are the same. 1969-12-31T23:59:59.5 is {-1, 500000000}.
struct Timestamp {
    i64 seconds;
    u32 nanoseconds;
    u8 fraction_digits;  // as written: 3 for ".120"
    bool has_offset;
    bool date_only;
};

// Fraction digits from p[at] on, at least one and at most nine: ".120" -> 120000000 ns, three digits.
HR_FN bool read_fraction(const u8* p, usize n, usize& at, Timestamp& out) {
    u32 value = 0;
    u8 count = 0;
    for (; at < n && is_digit(p[at]); ++at, ++count) {
        if (count == 9) return false;
        value = value * 10 + (p[at] - u32{'0'});
    }
    out.fraction_digits = count;
    for (u8 scaled = count; scaled < 9; ++scaled) value *= 10;
    out.nanoseconds = value;
    return count > 0;
}

// HH:MM, HH:MM:SS or HH:MM:SS.f from p[at] on; `at` moves behind it. A leap second (:60) has no place in Unix time.
HR_FN bool read_time(const u8* p, usize n, usize& at, Timestamp& out) {
    u32 hour, minute, second = 0;
    if (n - at < 5 || p[at + 2] != ':') return false;
    if (!read_two_digits(p + at, 23, hour) || !read_two_digits(p + at + 3, 59, minute)) return false;
    at += 5;
    bool fraction_read = true;
    if (at < n && p[at] == ':') {
        if (n - at < 3 || !read_two_digits(p + at + 1, 59, second)) return false;
        at += 3;
        if (at < n && p[at] == '.') fraction_read = read_fraction(p, n, ++at, out);
    }
    out.seconds += (hour * 60 + minute) * 60 + second;
    return fraction_read;
}

// The end of the text, if p[at, n) is Z, z, +HH, +HHMM or +HH:MM, or the same with '-'.
HR_FN bool read_offset(const u8* p, usize n, usize at, i64& offset_seconds) {
    const usize length = n - at;
    offset_seconds = 0;
    if (length == 1) return p[at] == 'Z' || p[at] == 'z';
    if ((length != 3 && length != 5 && length != 6) || (p[at] != '+' && p[at] != '-')) return false;
    u32 hours, minutes = 0;
    if (!read_two_digits(p + at + 1, 23, hours)) return false;
    if (length == 6 && p[at + 3] != ':') return false;
    if (length > 3 && !read_two_digits(p + n - 2, 59, minutes)) return false;
    offset_seconds = (hours * 60 + minutes) * 60;
    if (p[at] == '-') offset_seconds = -offset_seconds;
    return true;
}

// YYYY-MM-DD, or YYYY-MM-DD[T or space]HH:MM[:SS[.f]] and then nothing or an offset; f has one to nine digits.
HR_COLD Parse parse_timestamp(const u8* p, usize n, Timestamp& out) {
    i64 days;
    if (n < 10 || !read_date(p, days)) return Parse::invalid;
    Timestamp t{days * 86400, 0, 0, false, n == 10};
    if (!t.date_only) {
        usize at = 11;
        if ((p[10] != 'T' && p[10] != ' ') || !read_time(p, n, at, t)) return Parse::invalid;
        if (at < n) {
            i64 offset_seconds;
            if (!read_offset(p, n, at, offset_seconds)) return Parse::invalid;
            t.seconds -= offset_seconds;
            t.has_offset = true;
        }
    }
    out = t;
    return Parse::ok;
}

// The timestamp as a number of units: {1, 500000000} is 1500 where a second has 1000 of them. `units_per_second` is a
// power of ten up to 10^9. Overflow if 64 bits do not hold it, or if digits finer than the unit would be lost.
HR_COLD Parse scale_timestamp(const Timestamp& t, i64 units_per_second, i64& out) {
    constexpr i64 LARGEST = 0x7FFFFFFFFFFFFFFF;
    constexpr i64 SMALLEST = -LARGEST - 1;
    const i64 nanoseconds_per_unit = 1000000000 / units_per_second;
    if (t.nanoseconds % nanoseconds_per_unit != 0) return Parse::overflow;
    i64 fraction = t.nanoseconds / nanoseconds_per_unit;
    i64 seconds = t.seconds;
    // Before 1970 the fraction is counted down from the next second, so that no step leaves the range when the sum is
    // in it.
    if (seconds < 0) {
        seconds += 1;
        fraction -= units_per_second;
    }
    if (seconds > LARGEST / units_per_second || seconds < SMALLEST / units_per_second) return Parse::overflow;
    const i64 whole = seconds * units_per_second;
    if (fraction > 0 ? whole > LARGEST - fraction : whole < SMALLEST - fraction) return Parse::overflow;
    out = whole + fraction;
    return Parse::ok;
}

HR_END_NAMESPACE
