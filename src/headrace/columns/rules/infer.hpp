// Classifies a field's text by the kind of value it looks like, and joins kinds. A column's type follows from the join
// of the kinds of its fields. So it depends neither on their order nor on how the file was split.
//
//   text
//    |-- boolean (the caller gives the words)
//    |-- float64 <- negative <- natural
//    |-- uint64 <- natural
//    |-- timestamp_ns <- timestamp_us <- date
//    |-- timestamp_ns_utc <- timestamp_us_utc
//    |-- time_ns <- time_us
//    |-- duration_ns <- duration_us
//    `-- hex_uint64 <- hex
//
// `empty` is below all of them. An integer outside int64 never becomes a float, which would round an identifier. Up to
// 64 bits it is uint64 among natural numbers and text among others; beyond that it is text.
#pragma once

#include "columns/rules/dates/date_format.hpp"
#include "columns/rules/dates/parse_date.hpp"
#include "columns/rules/dates/parse_duration.hpp"
#include "columns/rules/dates/parse_time.hpp"
#include "columns/rules/numbers/number_marks.hpp"
#include "columns/rules/numbers/parse_float.hpp"
#include "columns/rules/numbers/parse_int.hpp"
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

enum class Kind : u8 {
    empty,
    boolean,
    natural,   // 0 .. 2^63 - 1: int64, unless the column needs uint64
    negative,  // -2^63 .. 0 with a sign: int64
    uint64,    // 2^63 .. 2^64 - 1
    float64,
    date,
    timestamp_us,
    timestamp_ns,  // more than six fraction digits
    timestamp_us_utc,
    timestamp_ns_utc,
    time_us,  // time of day
    time_ns,
    duration_us,  // ISO 8601, or days and a clock time
    duration_ns,
    hex,  // 0x0 .. 0x7FFFFFFFFFFFFFFF: int64, but not together with decimal numbers
    hex_uint64,
    text
};
constexpr u32 KIND_COUNT = 18;

// Hexadecimal numbers have no sign: hex_uint64 could not hold negative ones, and they are not in use.
HR_FN Kind classify_hex(const u8* p, usize n) {
    u64 value;
    if (parse_hex_magnitude(p + 2, n - 2, value) != Parse::ok) return Kind::text;
    return value >> 63 == 0 ? Kind::hex : Kind::hex_uint64;
}

// Returns whether a '+' begins a telephone number rather than a number: seven digits or more follow, as in +4930123456.
HR_FN bool is_telephone_number(const u8* p, usize n) {
    usize digits = 0;
    while (digits < 7 && digits + 1 < n && is_digit(p[digits + 1])) ++digits;
    return p[0] == '+' && digits == 7;
}

// Telephone numbers and numbers with a leading zero (007) are text, since a number would lose the sign or the zero. So
// are integers of more than 64 bits.
HR_COLD Kind classify_number(const u8* p, usize n) {
    if (is_telephone_number(p, n) || has_leading_zero(p, n)) return Kind::text;
    i64 value;
    const usize sign = p[0] == '-' || p[0] == '+' ? 1 : 0;
    if (is_hex(p + sign, n - sign)) return sign == 0 ? classify_hex(p, n) : Kind::text;
    const Parse as_int = parse_int(p, n, value);
    if (as_int == Parse::ok) return p[0] == '-' ? Kind::negative : Kind::natural;
    if (as_int == Parse::overflow) {
        u64 magnitude;
        return parse_int(p, n, magnitude) == Parse::ok ? Kind::uint64 : Kind::text;
    }
    double number;
    return parse_float(p, n, number) == Parse::ok ? Kind::float64 : Kind::text;
}

HR_COLD Kind kind_of_time(const Timestamp& t) {
    if (t.date_only) return Kind::date;
    if (t.fraction_digits <= 6) return t.has_offset ? Kind::timestamp_us_utc : Kind::timestamp_us;
    i64 nanoseconds;
    if (scale_timestamp(t, 1000000000, nanoseconds) != Parse::ok) return Kind::text;
    return t.has_offset ? Kind::timestamp_ns_utc : Kind::timestamp_ns;
}

HR_COLD Kind classify_time(const u8* p, usize n) {
    if (!is_digit(p[0]) && p[0] != '-') return Kind::text;
    Timestamp t;
    return parse_timestamp(p, n, t) == Parse::ok ? kind_of_time(t) : Kind::text;
}

HR_FN Kind classify_time_of_day(const u8* p, usize n) {
    Timestamp t;
    if (parse_time_of_day(p, n, t) != Parse::ok) return Kind::text;
    return t.fraction_digits <= 6 ? Kind::time_us : Kind::time_ns;
}

// A duration that its unit cannot represent is text.
HR_COLD Kind classify_duration(const u8* p, usize n) {
    Duration d;
    if (parse_duration(p, n, d) != Parse::ok || d.plain) return Kind::text;
    const bool fine = d.fraction_digits > 6;
    i64 units;
    if (scale_duration(d, fine ? 1000000000 : 1000000, units) != Parse::ok) return Kind::text;
    return fine ? Kind::duration_ns : Kind::duration_us;
}

// Classifies a time of day or a duration.
HR_COLD Kind classify_length(const u8* p, usize n) {
    if (!is_digit(p[0]) && p[0] != '-' && p[0] != 'P') return Kind::text;
    const Kind time_of_day = classify_time_of_day(p, n);
    return time_of_day != Kind::text ? time_of_day : classify_duration(p, n);
}

// Classifies one field's text. Never returns empty or boolean: callers check these first.
HR_COLD Kind classify(const u8* p, usize n) {
    if (n == 0) return Kind::text;
    const Kind number = classify_number(p, n);
    if (number != Kind::text) return number;
    const Kind time = classify_time(p, n);
    return time != Kind::text ? time : classify_length(p, n);
}

// A set of kinds, a bit each.
using KindSet = u32;
HR_FN KindSet set_of(Kind kind) { return KindSet{1} << static_cast<u32>(kind); }

// Returns whether the text certainly has a kind of the set, by its characters alone: 17 is natural, -0.25 is float64.
// Numbers of more than 18 characters and other forms need `classify`.
HR_FN bool is_plainly_of(KindSet kinds, const u8* p, usize n) {
    const usize sign = n != 0 && p[0] == '-' ? 1 : 0;
    if (n - sign - 1 >= 18 || has_leading_zero(p, n)) return false;
    usize points = 0, point = 0;
    for (usize i = sign; i < n; ++i) {
        if (is_digit(p[i])) continue;
        if (p[i] != '.') return false;
        ++points;
        point = i;
    }
    if (points == 0) return sign == 0 && (kinds & set_of(Kind::natural));
    return points == 1 && point > sign && point + 1 < n && (kinds & set_of(Kind::float64));
}

// Classifies with other number marks and date formats. `scratch`: capacity of n bytes.
HR_COLD Kind classify(const u8* p, usize n, const NumberMarks& marks, const DateFormats& dates, u8* scratch) {
    if (n == 0) return Kind::text;
    Timestamp t{};
    const DateFormat* used;
    const bool is_time = parse_formatted(dates, p, n, t, used) == Parse::ok;
    if (is_time && dates.before_numbers) return kind_of_time(t);
    usize size;
    if (to_plain_number(marks, p, n, scratch, size) && size > 0) {
        const Kind number = classify_number(scratch, size);
        if (number != Kind::text) return number;
    }
    return is_time ? kind_of_time(t) : classify_length(p, n);
}

// Returns the smallest kind that covers both. Commutative, associative, idempotent. Each group below is a chain in the
// order of the enumeration, with one exception: only natural is below uint64.
HR_FN Kind join(Kind a, Kind b) {
    if (a == b || b == Kind::empty) return a;
    if (a == Kind::empty) return b;
    const Kind low = a < b ? a : b;
    const Kind high = a < b ? b : a;
    const bool unsigned_only = low == Kind::uint64 || high == Kind::uint64;
    const bool numbers = low >= Kind::natural && high <= Kind::float64 && (!unsigned_only || low == Kind::natural);
    const bool naive_times = low >= Kind::date && high <= Kind::timestamp_ns;
    const bool utc_times = low >= Kind::timestamp_us_utc && high <= Kind::timestamp_ns_utc;
    const bool times_of_day = low == Kind::time_us && high == Kind::time_ns;
    const bool durations = low == Kind::duration_us && high == Kind::duration_ns;
    const bool hex_numbers = low == Kind::hex && high == Kind::hex_uint64;
    return numbers || naive_times || utc_times || times_of_day || durations || hex_numbers ? high : Kind::text;
}

HR_END_NAMESPACE
