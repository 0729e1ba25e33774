// Formats dates, times, timestamps and durations. Each function writes from `out` on and returns the end; it may
// overwrite up to 8 bytes after it. Dates whose year does not have four digits and times outside the day have no text
// that can be read back: the function returns null.
#pragma once

#include "export/text/format_number.hpp"

HR_BEGIN_NAMESPACE

// The texts "00", "01", ... "99".
alignas(64) HR_CONSTANT struct TwoDigits {
    u8 text[100][2];
    constexpr TwoDigits() : text{} {
        for (u8 i = 0; i < 100; ++i) {
            text[i][0] = static_cast<u8>('0' + i / 10);
            text[i][1] = static_cast<u8>('0' + i % 10);
        }
    }
} TWO_DIGITS;

HR_FN u8* write_two_digits(u8* out, u32 value) {
    __builtin_memcpy(out, TWO_DIGITS.text[value], 2);
    return out + 2;
}

// A quotient rounded down, also below zero, and the remainder: (-1, 10) -> {-1, 9}.
struct Quotient {
    i64 whole;
    i64 rest;
};

template <i64 DIVISOR>
HR_FN Quotient divide_down(i64 value) {
    const i64 whole = value / DIVISOR, rest = value % DIVISOR;
    return rest < 0 ? Quotient{whole - 1, rest + DIVISOR} : Quotient{whole, rest};
}

constexpr i64 SECONDS_OF_DAY = 86400;
constexpr i64 FIRST_DAY = -719528, LAST_DAY = 2932896;  // 0000-01-01, 9999-12-31
constexpr usize LONGEST_TIME = 48;                      // the longest has 37: -106751991167301 days +23:59:59.nnnnnnnnn

// Writes YYYY-MM-DD from days since 1970-01-01. This is the inverse of days_from_civil
// (columns/rules/dates/parse_date.hpp): years begin in March, and 400 years have 146097 days.
HR_FN u8* write_date(u8* out, i64 days) {
    if (days < FIRST_DAY || days > LAST_DAY) [[unlikely]]
        return nullptr;
    const Quotient era = divide_down<146097>(days + 719468);
    const u32 day_of_era = static_cast<u32>(era.rest);
    // Leap days within the era are subtracted, so that every year has 365 days.
    const u32 year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const u32 day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const u32 months_since_march = (5 * day_of_year + 2) / 153;
    const u32 day = day_of_year - (153 * months_since_march + 2) / 5 + 1;
    const u32 month = months_since_march < 10 ? months_since_march + 3 : months_since_march - 9;
    const u32 year = static_cast<u32>(era.whole * 400 + year_of_era + (month <= 2 ? 1 : 0));
    out = write_two_digits(out, year / 100);
    out = write_two_digits(out, year % 100);
    *out++ = '-';
    out = write_two_digits(out, month);
    *out++ = '-';
    return write_two_digits(out, day);
}

// Writes the fraction of a second: nothing for 0, else all digits of the unit.
template <i64 UNITS_PER_SECOND>
HR_FN u8* write_fraction(u8* out, u32 units) {
    if (UNITS_PER_SECOND == 1 || units == 0) return out;
    *out++ = '.';
    if (UNITS_PER_SECOND == 1000) return write_padded(out, units, 3);
    if (UNITS_PER_SECOND == 1000000) return write_padded(out, units, 6);
    out = write_eight_digits(out, units / 10);
    *out++ = static_cast<u8>('0' + units % 10);
    return out;
}

// Writes a time within a day as HH:MM:SS[.f].
template <i64 UNITS_PER_SECOND>
HR_FN u8* write_time_of_day(u8* out, i64 units) {
    const u32 seconds = static_cast<u32>(units / UNITS_PER_SECOND);
    out = write_two_digits(out, seconds / 3600);
    *out++ = ':';
    out = write_two_digits(out, seconds / 60 % 60);
    *out++ = ':';
    out = write_two_digits(out, seconds % 60);
    return write_fraction<UNITS_PER_SECOND>(out, static_cast<u32>(units % UNITS_PER_SECOND));
}

// Writes YYYY-MM-DD HH:MM:SS[.f][Z].
template <i64 UNITS_PER_SECOND>
HR_FN u8* write_timestamp(u8* out, i64 units, bool instant) {
    const Quotient day = divide_down<SECONDS_OF_DAY * UNITS_PER_SECOND>(units);
    out = write_date(out, day.whole);
    if (out == nullptr) [[unlikely]]
        return nullptr;
    *out++ = ' ';
    out = write_time_of_day<UNITS_PER_SECOND>(out, day.rest);
    *out = 'Z';
    return out + instant;
}

// Writes N days HH:MM:SS[.f], or -N days +HH:MM:SS[.f] below zero, as Python and pandas do. Days are rounded down and
// the time is added: minus one second is "-1 days +23:59:59".
template <i64 UNITS_PER_SECOND>
HR_FN u8* write_duration(u8* out, i64 units) {
    const Quotient day = divide_down<SECONDS_OF_DAY * UNITS_PER_SECOND>(units);
    out = write_signed(out, day.whole);
    __builtin_memcpy(out, " days +", 7);
    return write_time_of_day<UNITS_PER_SECOND>(out + 6 + (units < 0), day.rest);
}

// Writes a time as HH:MM:SS[.f]. Returns null for a value outside the day (DuckDB has 24:00:00).
template <i64 UNITS_PER_SECOND>
HR_FN u8* write_time(u8* out, i64 units) {
    const bool in_day = units >= 0 && units < SECONDS_OF_DAY * UNITS_PER_SECOND;
    return in_day ? write_time_of_day<UNITS_PER_SECOND>(out, units) : nullptr;
}

HR_END_NAMESPACE
