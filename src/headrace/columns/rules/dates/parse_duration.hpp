// Parses durations in two forms:
// | ISO 8601   [-]P[nW][nD][T[nH][nM][n[.f]S]]       P1DT2H, -PT0.5S; months and years have no length
// | clock      [-]H:MM:SS[.f]                        26:00:00, -0:00:01
// |            [-]N day[s][[,] [+-]H:MM:SS[.f]]      1 day, 2:03:04; -1 days +23:59:59
// In the last form, which Python, pandas and PostgreSQL write, each part has its own sign: -1 day, 23:59:59 is minus
// one second.
#pragma once

#include "columns/rules/dates/parse_date.hpp"
#include "columns/rules/numbers/int128.hpp"

HR_BEGIN_NAMESPACE

// Seconds, rounded down, and the nanoseconds after them: -0.5 s is {-1, 500000000}.
struct Duration {
    i64 seconds;
    u32 nanoseconds;
    u8 fraction_digits;
    bool plain;  // [-]H:MM:SS, which may be a time of day, or N days alone
};

// The sum of the parts read; a fraction is the last part.
struct DurationSum {
    Int128 seconds;
    Timestamp fraction;  // only its nanoseconds and digits
    bool overflow;
};

// Reads one or more digits from p[at] on. `fits`: whether the number fits in 64 bits.
HR_FN bool read_count(const u8* p, usize n, usize& at, u64& count, bool& fits) {
    const usize begin = at;
    count = 0;
    fits = true;
    for (; at < n && is_digit(p[at]); ++at) {
        const u64 digit = p[at] - u64{'0'};
        fits = fits && count <= (~u64{0} - digit) / 10;
        count = count * 10 + digit;
    }
    return at > begin;
}

HR_FN void add_seconds(DurationSum& sum, u64 count, u64 seconds_each, bool fits, bool negative) {
    const Int128 part = multiply(count, seconds_each);
    sum.seconds = add(sum.seconds, negative ? negate(part) : part);
    sum.overflow = sum.overflow || !fits;
}

// `negative`: the fraction's sign.
HR_COLD Parse finish_duration(DurationSum sum, bool negative, bool plain, Duration& out) {
    u32 nanoseconds = sum.fraction.nanoseconds;
    if (negative && nanoseconds > 0) {
        nanoseconds = 1000000000 - nanoseconds;
        sum.seconds = add(sum.seconds, {~u64{0}, ~u64{0}});
    }
    if (sum.overflow || !fits_64_bits(sum.seconds)) return Parse::overflow;
    out = {static_cast<i64>(sum.seconds.low), nanoseconds, sum.fraction.fraction_digits, plain};
    return Parse::ok;
}

HR_FN u64 seconds_of_designator(u8 letter, bool in_time) {
    if (in_time) return letter == 'H' ? 3600 : letter == 'M' ? 60 : letter == 'S' ? 1 : 0;
    return letter == 'W' ? 604800 : letter == 'D' ? 86400 : 0;
}

// Parses what follows the P. Parts go from the longest unit to the shortest. There is at least one, also after a T.
HR_COLD Parse parse_iso_duration(const u8* p, usize n, usize at, bool negative, Duration& out) {
    DurationSum sum{};
    bool in_time = false;
    u64 shortest = ~u64{0};
    if (at == n) return Parse::invalid;
    while (at < n) {
        if (p[at] == 'T' && !in_time) {
            in_time = true;
            if (++at == n) return Parse::invalid;
        }
        u64 count;
        bool fits;
        if (!read_count(p, n, at, count, fits) || at == n) return Parse::invalid;
        const bool has_fraction = p[at] == '.';
        if (has_fraction && (!read_fraction(p, n, ++at, sum.fraction) || at == n)) return Parse::invalid;
        const u64 each = seconds_of_designator(p[at++], in_time);
        if (each == 0 || each >= shortest || (has_fraction && each != 1)) return Parse::invalid;
        shortest = each;
        add_seconds(sum, count, each, fits, negative);
    }
    return finish_duration(sum, negative, false, out);
}

// Reads H:MM:SS[.f] up to the end of the text; hours may have any number of digits.
HR_COLD bool read_clock(const u8* p, usize n, usize at, bool negative, DurationSum& sum) {
    u64 hours;
    bool fits;
    u32 minute, second;
    if (!read_count(p, n, at, hours, fits) || n - at < 6 || p[at] != ':' || p[at + 3] != ':') return false;
    if (!read_two_digits(p + at + 1, 59, minute) || !read_two_digits(p + at + 4, 59, second)) return false;
    at += 6;
    if (at < n && (p[at] != '.' || !read_fraction(p, n, ++at, sum.fraction))) return false;
    if (at != n) return false;
    add_seconds(sum, hours, 3600, fits, negative);
    add_seconds(sum, minute * 60 + second, 1, true, negative);
    return true;
}

// Reads " day" or " days" at p[at], and moves `at` past it.
HR_FN bool read_day_word(const u8* p, usize n, usize& at) {
    if (n - at < 4 || p[at] != ' ' || p[at + 1] != 'd' || p[at + 2] != 'a' || p[at + 3] != 'y') return false;
    at += 4;
    if (at < n && p[at] == 's') ++at;
    return true;
}

HR_COLD Parse parse_clock_duration(const u8* p, usize n, Duration& out) {
    DurationSum sum{};
    const bool negative = p[0] == '-';
    const usize begin = negative ? 1 : 0;
    usize at = begin;
    u64 days;
    bool fits;
    if (!read_count(p, n, at, days, fits)) return Parse::invalid;
    if (at < n && p[at] == ':') {
        return read_clock(p, n, begin, negative, sum) ? finish_duration(sum, negative, true, out) : Parse::invalid;
    }
    if (!read_day_word(p, n, at)) return Parse::invalid;
    add_seconds(sum, days, 86400, fits, negative);
    if (at == n) return finish_duration(sum, false, true, out);
    if (p[at] == ',') ++at;
    if (n - at < 2 || p[at] != ' ') return Parse::invalid;
    ++at;
    const bool back = p[at] == '-';
    if (back || p[at] == '+') ++at;
    return read_clock(p, n, at, back, sum) ? finish_duration(sum, back, false, out) : Parse::invalid;
}

// Returns overflow if 64 bits cannot hold the whole seconds, or a number in the text.
HR_COLD Parse parse_duration(const u8* p, usize n, Duration& out) {
    if (n == 0) return Parse::invalid;
    const usize sign = p[0] == '-' ? 1 : 0;
    if (n > sign && p[sign] == 'P') return parse_iso_duration(p, n, sign + 1, sign == 1, out);
    return parse_clock_duration(p, n, out);
}

// Converts a duration to units; overflow as in scale_timestamp.
HR_FN Parse scale_duration(const Duration& d, i64 units_per_second, i64& out) {
    return scale_timestamp({d.seconds, d.nanoseconds, 0, false, false}, units_per_second, out);
}

HR_END_NAMESPACE
