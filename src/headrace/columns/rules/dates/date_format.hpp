// Parses timestamps by formats that the caller gives, such as "%d.%m.%Y %H:%M". columns/date_format.py compiles a
// format to steps and documents the formats. A step's letter is that of its directive.
#pragma once

#include "columns/rules/common/status.hpp"
#include "columns/rules/dates/parse_date.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

// `what` is one of
// | Y y m d j H I M S   a number with at least `least` digits
// | B b                 a month's English name, or its first three letters; in any case
// | p                   AM or PM, in any case
// | f                   one to nine digits of a second's fraction
// | s                   seconds since 1970, possibly negative
// | z                   Z, +HH, +HHMM or +HH:MM, or the same with '-'
// | Z                   UTC, GMT or Z, in any case
// | %                   the byte `least` itself
// | _                   an optional space
// | ?                   the text may end here
struct DateStep {
    u8 what;
    u8 least;
};

struct DateFormat {
    const DateStep* steps;
    usize count;
    bool may_be_number;  // some texts of this format are also numbers: 20240131
};

// The formats of a column, in the order in which they are tried.
struct DateFormats {
    const DateFormat* formats;
    usize count;
    bool iso_first;       // ISO 8601 (parse_date.hpp) is tried first; otherwise it is not accepted
    bool before_numbers;  // inference tries dates before numbers
};

}  // namespace headrace

HR_BEGIN_NAMESPACE

// The parts that the steps have read.
struct DateParts {
    u32 year = 0, month = 0, day = 0, day_of_year = 0;
    u32 hour = 0, minute = 0, second = 0;
    i64 seconds_since_1970 = 0;
    i64 offset_seconds = 0;
    Timestamp fraction{};  // nanoseconds and number of digits
    bool has_time = false, has_offset = false, is_epoch = false, is_negative = false;
    bool half_given = false, afternoon = false;
};

// Reads the digits from p[at] on, at least `least` and at most `most`.
HR_FN bool read_number(const u8* p, usize n, usize& at, u32 least, u32 most, u32& out) {
    u32 value = 0, count = 0;
    for (; count < most && at < n && is_digit(p[at]); ++at, ++count) value = value * 10 + (p[at] - u32{'0'});
    out = value;
    return count >= least;
}

// Moves `at` past `word` (in lower case) if it is at p[at], in any case.
HR_FN bool read_word(const u8* p, usize n, usize& at, const char* word) {
    usize i = 0;
    for (; word[i] != 0; ++i) {
        if (at + i >= n || (p[at + i] | 0x20) != word[i]) return false;
    }
    at += i;
    return true;
}

HR_CONSTANT char MONTH_NAMES[12][10] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};

// The first three letters identify the month.
HR_FN bool read_month_name(const u8* p, usize n, usize& at, bool is_short, u32& month) {
    if (n - at < 3) return false;
    const u32 letters = (p[at] | 0x20u) | (p[at + 1] | 0x20u) << 8 | (p[at + 2] | 0x20u) << 16;
    for (u32 i = 0; i < 12; ++i) {
        const char* const name = MONTH_NAMES[i];
        if (letters != (static_cast<u32>(name[0]) | static_cast<u32>(name[1]) << 8 | static_cast<u32>(name[2]) << 16)) {
            continue;
        }
        month = i + 1;
        if (!is_short) return read_word(p, n, at, name);
        at += 3;
        return true;
    }
    return false;
}

// Reads an offset from UTC inside a text; its minutes only if two digits follow.
HR_FN bool read_format_offset(const u8* p, usize n, usize& at, DateParts& parts) {
    parts.has_offset = true;
    if (at < n && (p[at] | 0x20) == 'z') {
        ++at;
        return true;
    }
    if (n - at < 3 || (p[at] != '+' && p[at] != '-')) return false;
    const bool negative = p[at] == '-';
    u32 hours, minutes = 0;
    if (!read_two_digits(p + at + 1, 23, hours)) return false;
    at += 3;
    const bool colon = at < n && p[at] == ':';
    const usize digits = at + (colon ? 1 : 0);
    if (n - digits >= 2 && is_digit(p[digits])) {
        if (!read_two_digits(p + digits, 59, minutes)) return false;
        at = digits + 2;
    }
    parts.offset_seconds = (hours * 60 + minutes) * 60;
    if (negative) parts.offset_seconds = -parts.offset_seconds;
    return true;
}

HR_FN bool read_epoch(const u8* p, usize n, usize& at, DateParts& parts) {
    parts.is_epoch = true;
    parts.is_negative = at < n && p[at] == '-';
    if (parts.is_negative) ++at;
    constexpr usize MAX_DIGITS = 18;
    const usize begin = at;
    i64 value = 0;
    for (; at < n && is_digit(p[at]) && at - begin < MAX_DIGITS; ++at) value = value * 10 + (p[at] - '0');
    parts.seconds_since_1970 = value;
    return at > begin;
}

HR_FN bool read_time_part(u8 what, const u8* p, usize n, usize& at, u32 least, DateParts& parts) {
    parts.has_time = true;
    switch (what) {
        case 'H':
            return read_number(p, n, at, least, 2, parts.hour) && parts.hour <= 23;
        case 'I':
            return read_number(p, n, at, least, 2, parts.hour) && parts.hour - 1 <= 11;
        case 'M':
            return read_number(p, n, at, least, 2, parts.minute) && parts.minute <= 59;
        case 'S':
            return read_number(p, n, at, least, 2, parts.second) && parts.second <= 59;
        case 'f':
            return read_fraction(p, n, at, parts.fraction);
        case 's':
            return read_epoch(p, n, at, parts);
        case 'p':
            parts.half_given = true;
            parts.afternoon = read_word(p, n, at, "pm");
            return parts.afternoon || read_word(p, n, at, "am");
        case 'z':
            return read_format_offset(p, n, at, parts);
        case 'Z':
            parts.has_offset = true;
            return read_word(p, n, at, "utc") || read_word(p, n, at, "gmt") || read_word(p, n, at, "z");
    }
    return false;
}

// Executes one step other than '?'.
HR_COLD bool read_step(const DateStep& step, const u8* p, usize n, usize& at, DateParts& parts) {
    switch (step.what) {
        case '%':
            return at < n && p[at++] == step.least;
        case '_':
            if (at < n && p[at] == ' ') ++at;
            return true;
        case 'd':
            return read_number(p, n, at, step.least, 2, parts.day);
        case 'm':
            return read_number(p, n, at, step.least, 2, parts.month);
        case 'Y':
            return read_number(p, n, at, 4, 4, parts.year);
        case 'y':
            // 69 to 99 belong to the last century, 00 to 68 to this one, as in POSIX.
            if (!read_number(p, n, at, 2, 2, parts.year)) return false;
            parts.year += parts.year >= 69 ? 1900 : 2000;
            return true;
        case 'j':
            return read_number(p, n, at, step.least, 3, parts.day_of_year) && parts.day_of_year >= 1;
        case 'B':
        case 'b':
            return read_month_name(p, n, at, step.what == 'b', parts.month);
        default:
            return read_time_part(step.what, p, n, at, step.least, parts);
    }
}

// Converts the parts to a timestamp. Returns false if there is no such day.
HR_COLD bool to_timestamp(const DateParts& parts, Timestamp& out) {
    out = parts.fraction;
    out.has_offset = parts.has_offset || parts.is_epoch;
    out.date_only = !parts.has_time;
    if (parts.is_epoch) {
        // -1.25 is one second before -0.25: nanoseconds count up from the second below.
        const bool below = parts.is_negative && out.nanoseconds != 0;
        out.seconds = (parts.is_negative ? -parts.seconds_since_1970 : parts.seconds_since_1970) - (below ? 1 : 0);
        if (below) out.nanoseconds = 1000000000 - out.nanoseconds;
        return true;
    }
    const i32 year = static_cast<i32>(parts.year);
    i64 days;
    if (parts.day_of_year != 0) {
        if (parts.day_of_year == 366 ? !valid_date(year, 2, 29) : parts.day_of_year > 366) return false;
        days = days_from_civil(year, 1, 1) + parts.day_of_year - 1;
    } else {
        if (!valid_date(year, parts.month, parts.day)) return false;
        days = days_from_civil(year, parts.month, parts.day);
    }
    u32 hour = parts.hour;
    if (parts.half_given) hour = hour % 12 + (parts.afternoon ? 12 : 0);
    out.seconds = days * 86400 + (hour * 60 + parts.minute) * 60 + parts.second - parts.offset_seconds;
    return true;
}

// Parses the whole text by one format.
HR_COLD bool read_formatted(const DateFormat& format, const u8* p, usize n, Timestamp& out) {
    DateParts parts;
    usize at = 0;
    for (usize i = 0; i < format.count; ++i) {
        if (format.steps[i].what == '?') {
            if (at == n) return to_timestamp(parts, out);
        } else if (!read_step(format.steps[i], p, n, at, parts)) {
            return false;
        }
    }
    return at == n && to_timestamp(parts, out);
}

// Parses the whole text by the first format that fits. `used`: that format, or 0 for ISO 8601.
HR_COLD Parse parse_formatted(const DateFormats& formats, const u8* p, usize n, Timestamp& out,
                              const DateFormat*& used) {
    used = nullptr;
    if (formats.iso_first && parse_timestamp(p, n, out) == Parse::ok) return Parse::ok;
    for (usize i = 0; i < formats.count; ++i) {
        if (!read_formatted(formats.formats[i], p, n, out)) continue;
        used = formats.formats + i;
        return Parse::ok;
    }
    return Parse::invalid;
}

HR_END_NAMESPACE
