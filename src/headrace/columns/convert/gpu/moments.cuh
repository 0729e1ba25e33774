// Reads dates, timestamps, times and durations of any usual form from staged text: ISO 8601 with a fraction and an
// offset, formats whose parts have fixed widths, and days before a time of day. Each function returns what the rules of
// columns/rules/dates return, or declines.
#pragma once

#include "columns/convert/gpu/dates.cuh"
#include "columns/rules/column_type.hpp"
#include "columns/rules/dates/date_layout.hpp"

namespace headrace {

// The parts of a text. `fraction_digits`: as written; 3 for ".120".
struct Moment {
    i32 days;
    u32 seconds;  // of the day
    i32 offset;   // from UTC, in seconds
    u32 nanoseconds;
    u32 fraction_digits;
    bool has_time, has_offset;
};

// Reads one to nine digits of a second's fraction, and moves `at` past them. Bytes after the last digit count as
// zeros, so ".25" is 250000000 nanoseconds.
HR_FN bool fast_fraction(const u32* text, u32& at, u32 end, Moment& moment) {
    u32 words[3];
    load_from(text, at, words);
    u32 count = 0;
#pragma unroll
    for (u32 i = 3; i-- > 0;) {
        words[i] ^= 0x30303030;
        const u32 others = not_digits(words[i]);
        count = others != 0 ? first_bit(others) / 8 : count + 4;
    }
    if (count > end - at) count = end - at;
    if (count - 1 >= 9) return false;
#pragma unroll
    for (u32 i = 0; i < 3; ++i) words[i] &= ~last_bytes(4 * static_cast<i32>(i + 1) - static_cast<i32>(count));
    moment.nanoseconds = four_digits(words[0]) * 100000 + four_digits(words[1]) * 10 + (words[2] & 0xFF);
    moment.fraction_digits = count;
    at += count;
    return true;
}

// Reads Z, z, +HH, +HHMM or +HH:MM, or the same with '-', up to `end`.
HR_FN bool fast_offset(const u32* text, u32 at, u32 end, Moment& moment) {
    const u32 n = end - at;
    u32 words[2];
    load_from(text, at, words);
    moment.has_offset = true;
    moment.offset = 0;
    const u8 sign = static_cast<u8>(words[0]);
    if (n == 1) return (sign | 0x20) == 'z';
    if ((n != 3 && n != 5 && n != 6) || (sign != '+' && sign != '-')) return false;
    // "+HH:", "MM", or without the colon "+HHM", "M"; without minutes these are zeros.
    const u32 minutes = n == 6 ? words[1] : words[0] >> 24 | words[1] << 8;
    const u32 hour = (words[0] >> 8 & 0xFFFF) ^ 0x3030, minute = n == 3 ? 0 : (minutes & 0xFFFF) ^ 0x3030;
    const u32 hours = dot4(hour, 0x010A, 0), rest = dot4(minute, 0x010A, 0);
    if ((not_digits(hour) | not_digits(minute)) != 0 || hours > 23 || rest > 59) return false;
    if (n == 6 && words[0] >> 24 != ':') return false;
    moment.offset = static_cast<i32>((hours * 60 + rest) * 60);
    if (sign == '-') moment.offset = -moment.offset;
    return true;
}

// Reads what may follow a time of day: a fraction, and an offset if `may_offset`.
HR_FN bool fast_rest(const u32* text, u32 at, u32 end, bool may_offset, Moment& moment) {
    if (at < end && reinterpret_cast<const u8*>(text)[at] == '.' && !fast_fraction(text, ++at, end, moment))
        return false;
    return at == end || (may_offset && fast_offset(text, at, end, moment));
}

// Reads a text of ISO 8601: "2019-01-31", or "2019-01-31 23:59" with seconds, a fraction and an offset.
HR_FN bool read_iso(const u32* text, u32 begin, u32 end, Moment& moment) {
    const u32 n = end - begin;
    moment = {};
    if (n - date_bytes > 64 || !fast_date(text, begin + date_bytes, date_bytes, moment.days)) return false;
    if (n == date_bytes) return true;
    const u8 between = reinterpret_cast<const u8*>(text)[begin + date_bytes];
    if ((n < timestamp_bytes && n != 16) || (between != ' ' && between != 'T')) return false;
    u32 clock[2];
    load_from(text, begin + 11, clock);
    if (n == 16) clock[1] = (clock[1] & 0xFF) | 0x30303A00;  // "9:00"
    moment.has_time = true;
    if (!fast_clock(clock[0], clock[1], moment.seconds)) return false;
    return n <= timestamp_bytes || fast_rest(text, begin + timestamp_bytes, end, true, moment);
}

// Returns whether the bytes have a layout's shape. A byte's difference from that of the shape is at most its limit. It
// is taken by exclusive or, which is the distance of a digit from '0'. A limit of 255 accepts any byte.
HR_FN bool has_shape(const u32* text, u32 begin, const DateLayout& layout) {
    const u32* const shape = reinterpret_cast<const u32*>(layout.shape);
    const u32* const limit = reinterpret_cast<const u32*>(layout.limit);
    u32 wrong = 0;
#pragma unroll 1
    for (u32 i = 0; 4 * i < layout.size; ++i) {
        u32 word[1];
        load_from(text, begin + 4 * i, word);
        const u32 difference = word[0] ^ shape[i], limits = limit[i];
        const u32 above = difference + (0x7F7F7F7F - (limits & 0x7F7F7F7F));
        wrong |= (above | difference) & ~limits & tile::top_bits;
    }
    return wrong == 0;
}

HR_FN u32 two_digits(const u8* p) { return p[0] * 10 + p[1] - 11 * '0'; }

HR_FN bool read_layout(const u32* text, u32 begin, u32 end, const DateLayout& layout, Moment& moment) {
    const u8* const p = reinterpret_cast<const u8*>(text) + begin;
    const u32 size = layout.size;
    moment = {};
    if (end - begin - size > 64 || !has_shape(text, begin, layout)) return false;
    const auto part = [&](u32 i) {
        const u8 place = layout.place[i];
        return place == DateLayout::NO_PLACE ? 0 : two_digits(p + place);
    };
    u32 year = part(0) * 100 + part(1), month = part(2), hour = part(4);
    if (layout.has_short_year) year += year >= 69 ? 1900 : 2000;
    if (layout.month_name != DateLayout::NO_PLACE) {
        const u8* const name = p + layout.month_name;
        month = month_of_letters(name[0] | u32{name[1]} << 8 | u32{name[2]} << 16);
    }
    if (layout.half != DateLayout::NO_PLACE) {
        const u32 half = p[layout.half] | 0x20;
        if (hour - 1 > 11 || (half != 'a' && half != 'p') || (p[layout.half + 1] | 0x20) != 'm') return false;
        hour = hour % 12 + (half == 'p' ? 12 : 0);
    }
    const u32 minute = part(5), second = part(6);
    moment.has_time = layout.has_time;
    moment.seconds = (hour * 60 + minute) * 60 + second;
    if (hour > 23 || minute > 59 || second > 59 || !days_of(year, month, part(3), moment.days)) return false;
    u32 at = begin + size;
    if (layout.has_fraction && !fast_fraction(text, at, end, moment)) return false;
    return layout.has_offset ? fast_offset(text, at, end, moment) : at == end;
}

// Reads a text of ISO 8601 or of a column's formats. `inferred`: the column's type is.
HR_FN bool read_moment(const u32* text, u32 begin, u32 end, const FieldRules& rules, bool inferred, Moment& moment) {
    if (rules.dates.iso_first && read_iso(text, begin, end, moment)) return true;
    for (usize i = 0; i < rules.layout_count; ++i) {
        // Texts of a later format may be of an earlier one as well.
        if (rules.layouts[i].format != 0) return false;
        if (!read_layout(text, begin, end, rules.layouts[i], moment)) continue;
        return !(inferred && !rules.dates.before_numbers && rules.dates.formats[0].may_be_number);
    }
    return false;
}

// Returns a fraction of a second in units, of which a second has 1, 10^3, 10^6 or 10^9. Declines digits that the unit
// does not hold.
HR_FN bool scale_fraction(const Moment& moment, i64 units, u32& fraction) {
    const u32 digits = units == 1 ? 0 : units == 1000 ? 3 : units == 1000000 ? 6 : 9;
    fraction = units == 1000      ? moment.nanoseconds / 1000000
               : units == 1000000 ? moment.nanoseconds / 1000
                                  : moment.nanoseconds;
    return moment.fraction_digits <= digits;
}

// Converts a moment to units since 1970.
HR_FN bool scale_moment(const Moment& moment, i64 units, i64& value) {
    const i64 whole = i64{moment.days} * 86400 + moment.seconds - moment.offset;
    u32 fraction;
    // 64 bits hold the nanoseconds of 292 years.
    constexpr i64 most = 9223372036;
    if (!scale_fraction(moment, units, fraction) || (units == 1000000000 && (whole >= most || whole < -most)))
        return false;
    value = whole * units + fraction;
    return true;
}

// Reads 23:59, 23:59:58 or 23:59:58.25 as units since midnight. `seconds`: the text must have seconds.
HR_FN bool read_time(const u32* text, u32 begin, u32 end, i64 units, bool needs_seconds, i64& value) {
    const u32 n = end - begin;
    Moment moment{};
    u32 clock[2], fraction;
    if ((n - 8 > 10 && n != 5) || (n == 5 && needs_seconds)) return false;
    load_from(text, begin, clock);
    if (n == 5) clock[1] = (clock[1] & 0xFF) | 0x30303A00;
    if (!fast_clock(clock[0], clock[1], moment.seconds)) return false;
    if (n > 8 && !fast_rest(text, begin + 8, end, false, moment)) return false;
    if (!scale_fraction(moment, units, fraction)) return false;
    value = moment.seconds * units + fraction;
    return true;
}

// Reads days and a clock time of less than a day as units: "3 days 02:30:00", "1 day, 2:30:00.5". Days have up to five
// digits, since 64 bits hold their nanoseconds. `needs_days`: a time alone is no duration.
HR_FN bool read_duration(const u32* text, u32 begin, u32 end, i64 units, bool needs_days, i64& value) {
    constexpr u32 day_word = 0x79616420, shortest = 13;  // " day"; "1 day 2:30:00"
    if (end - begin < shortest) return !needs_days && read_time(text, begin, end, units, true, value);
    u32 words[2], days, fraction;
    load_from(text, begin, words);
    const u32 others = not_digits(words[0] ^ 0x30303030), more = not_digits(words[1] ^ 0x30303030);
    const u32 count = others != 0 ? first_bit(others) / 8 : 4 + first_bit(more) / 8;
    if (count - 1 > 4) return false;
    load_before(text, begin + count, words);
    value_of(words, static_cast<i32>(count), days);
    u32 at = begin + count + 4;
    load_from(text, begin + count, words);
    if (words[0] != day_word) return !needs_days && read_time(text, begin, end, units, true, value);
    const auto skip = [&](u8 byte) {
        const bool here = (words[1] & 0xFF) == byte;
        at += here ? 1 : 0;
        words[1] >>= here ? 8 : 0;
    };
    skip('s');
    skip(',');
    if ((words[1] & 0xFF) != ' ') return false;
    load_from(text, ++at, words);
    const bool short_hour = (words[0] >> 8 & 0xFF) == ':';  // "2:30:00": a zero is put before it
    const u32 first = short_hour ? words[0] << 8 | '0' : words[0];
    const u32 second = short_hour ? words[1] << 8 | words[0] >> 24 : words[1];
    Moment moment{};
    at += short_hour ? 7 : 8;
    if (at > end || !fast_clock(first, second, moment.seconds)) return false;
    if (!fast_rest(text, at, end, false, moment) || !scale_fraction(moment, units, fraction)) return false;
    value = (i64{days} * 86400 + moment.seconds) * units + fraction;
    return true;
}

}  // namespace headrace
