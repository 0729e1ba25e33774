// Parses dates and timestamps in the proleptic Gregorian calendar (ISO 8601), years 0000 to 9999. Dates may also have
// slashes, and months and days of one digit: 2021/1/5.
#pragma once

#include "columns/rules/common/status.hpp"
#include "columns/rules/numbers/digits.hpp"
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Returns the days from 1970-01-01, e.g. 2000-03-01 -> 11017. Source: Howard Hinnant, "chrono-compatible low-level date
// algorithms". The year begins in March, so the leap day is its last day and all months before it have fixed starts.
// Months from March on repeat 31 30 31 30 31, so month k (March is 0) starts at day (153 k + 2) / 5.
HR_FN i64 days_from_civil(i32 year, u32 month, u32 day) {
    const i64 y = static_cast<i64>(year) - (month <= 2 ? 1 : 0);
    const i64 era = (y >= 0 ? y : y - 399) / 400;  // any 400 years have 146097 days
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

// Reads two digits as a number of at most `largest`: "59" -> 59.
HR_FN bool read_two_digits(const u8* p, u32 largest, u32& out) {
    if (!is_digit(p[0]) || !is_digit(p[1])) return false;
    out = (p[0] - u32{'0'}) * 10 + (p[1] - u32{'0'});
    return out <= largest;
}

// Reads one or two digits from p[at] on as a number, and moves `at` past them. 0: p[at] is no digit.
HR_FN u32 read_short_number(const u8* p, usize n, usize& at) {
    u32 value = 0;
    for (const usize end = at + 2 < n ? at + 2 : n; at < end && is_digit(p[at]); ++at)
        value = value * 10 + (p[at] - u32{'0'});
    return value;
}

// Reads YYYY-MM-DD or YYYY/MM/DD from the text's first bytes, e.g. 2021-01-05, 2021-1-5 and 2021/1/05. Returns the
// number of bytes read, or 0 for other text.
HR_FN usize read_date(const u8* p, usize n, i64& days) {
    u32 century, year_of_century;
    if (n < 8 || (p[4] != '-' && p[4] != '/')) return 0;
    if (!read_two_digits(p, 99, century) || !read_two_digits(p + 2, 99, year_of_century)) return 0;
    usize at = 5;
    const u32 month = read_short_number(p, n, at);
    if (at == n || p[at] != p[4]) return 0;
    const u32 day = read_short_number(p, n, ++at);
    const i32 year = static_cast<i32>(century * 100 + year_of_century);
    if (!valid_date(year, month, day)) return 0;
    days = days_from_civil(year, month, day);
    return at;
}

// Parses a date alone. `out`: days from 1970-01-01.
HR_FN Parse parse_date32(const u8* p, usize n, i32& out) {
    i64 days;
    if (n == 0 || read_date(p, n, days) != n) return Parse::invalid;
    out = static_cast<i32>(days);
    return Parse::ok;
}

// A point in time: seconds from 1970-01-01T00:00:00, rounded down, and the nanoseconds after them. With an offset the
// seconds are UTC: 12:00+02:00 and 10:00Z are equal. 1969-12-31T23:59:59.5 is {-1, 500000000}.
struct Timestamp {
    i64 seconds;
    u32 nanoseconds;
    u8 fraction_digits;  // as written: 3 for ".120"
    bool has_offset;
    bool date_only;
};

// Reads one to nine fraction digits from p[at] on: ".120" -> 120000000 ns, three digits.
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

// Reads HH:MM, HH:MM:SS or HH:MM:SS.f from p[at] on, and moves `at` past it. Unix time has no leap seconds, so :60 is
// invalid.
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

// Reads Z, z, +HH, +HHMM or +HH:MM, or the same with '-', up to the end of the text.
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

// Parses a date, or a date, T or a space, HH:MM[:SS[.f]] and an optional offset; f has one to nine digits.
HR_COLD Parse parse_timestamp(const u8* p, usize n, Timestamp& out) {
    i64 days;
    usize at = read_date(p, n, days);
    if (at == 0) return Parse::invalid;
    Timestamp t{days * 86400, 0, 0, false, at == n};
    if (!t.date_only) {
        if ((p[at] != 'T' && p[at] != ' ') || !read_time(p, n, ++at, t)) return Parse::invalid;
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

// Converts a timestamp to units: {1, 500000000} is 1500 with 1000 units per second. `units_per_second` is a power of
// ten up to 10^9. Overflow if 64 bits cannot hold the result, or if digits finer than the unit would be lost.
HR_COLD Parse scale_timestamp(const Timestamp& t, i64 units_per_second, i64& out) {
    constexpr i64 LARGEST = 0x7FFFFFFFFFFFFFFF;
    constexpr i64 SMALLEST = -LARGEST - 1;
    const i64 nanoseconds_per_unit = 1000000000 / units_per_second;
    if (t.nanoseconds % nanoseconds_per_unit != 0) return Parse::overflow;
    i64 fraction = t.nanoseconds / nanoseconds_per_unit;
    i64 seconds = t.seconds;
    // Before 1970 the fraction is subtracted from the next second, so that no intermediate result leaves the range if
    // the sum is in it.
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
