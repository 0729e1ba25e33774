// What kind of value a field's text looks like, and the kind that holds two kinds. A column's type is the join of the
// kinds of its fields, so it does not depend on their order or on how the file was cut.
//
//   text
//    |-- boolean (words are the caller's)
//    |-- float64 <- big_int <- { negative, uint64 } <- natural
//    |-- timestamp_ns <- timestamp_us <- date
//    `-- timestamp_ns_utc <- timestamp_us_utc
//
// `empty` is below all of them. `big_int` is a column of integers that no integer type holds: text in the end, unless a
// float comes later and makes it float64.
#pragma once

#include "columns/rules/date_format.hpp"
#include "columns/rules/number_marks.hpp"
#include "columns/rules/parse_date.hpp"
#include "columns/rules/parse_float.hpp"
#include "columns/rules/parse_int.hpp"
#include "core/portable.hpp"

HR_BEGIN_NAMESPACE

enum class Kind : u8 {
    empty,
    boolean,
    natural,   // 0 .. 2^63 - 1: int64, unless the column needs uint64
    negative,  // -2^63 .. 0 with a sign: int64
    uint64,    // 2^63 .. 2^64 - 1
    big_int,
    float64,
    date,
    timestamp_us,
    timestamp_ns,  // more than six fraction digits
    timestamp_us_utc,
    timestamp_ns_utc,
    text
};
constexpr u32 KIND_COUNT = 13;

// Numbers that begin with '+' or with a zero too many (+49..., 007) are text: as numbers they would lose it.
HR_FN Kind classify_number(const u8* p, usize n) {
    if (p[0] == '+' || has_leading_zero(p, n)) return Kind::text;
    i64 value;
    const Parse as_int = parse_int(p, n, value);
    if (as_int == Parse::ok) return p[0] == '-' ? Kind::negative : Kind::natural;
    if (as_int == Parse::overflow) {
        u64 magnitude;
        return parse_int(p, n, magnitude) == Parse::ok ? Kind::uint64 : Kind::big_int;
    }
    double number;
    return parse_float(p, n, number) == Parse::ok ? Kind::float64 : Kind::text;
}

HR_FN Kind kind_of_time(const Timestamp& t) {
    if (t.date_only) return Kind::date;
    if (t.fraction_digits <= 6) return t.has_offset ? Kind::timestamp_us_utc : Kind::timestamp_us;
    i64 nanoseconds;
    if (scale_timestamp(t, 1000000000, nanoseconds) != Parse::ok) return Kind::text;
    return t.has_offset ? Kind::timestamp_ns_utc : Kind::timestamp_ns;
}

HR_FN Kind classify_time(const u8* p, usize n) {
    Timestamp t;
    return parse_timestamp(p, n, t) == Parse::ok ? kind_of_time(t) : Kind::text;
}

// The kind of one field's text; never empty or boolean, which are for the caller to see first.
HR_FN Kind classify(const u8* p, usize n) {
    if (n == 0) return Kind::text;
    const Kind number = classify_number(p, n);
    return number != Kind::text ? number : classify_time(p, n);
}

// The same for numbers with other marks and dates of other formats; `scratch` has room for n bytes.
HR_FN Kind classify(const u8* p, usize n, const NumberMarks& marks, const DateFormats& dates, u8* scratch) {
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
    return is_time ? kind_of_time(t) : Kind::text;
}

// The smallest kind that holds both: commutative, associative, idempotent. Each group below is a chain in the order of
// the enumeration, with one exception: negative and uint64 are side by side, and big_int is above both.
HR_FN Kind join(Kind a, Kind b) {
    if (a == b || b == Kind::empty) return a;
    if (a == Kind::empty) return b;
    const Kind low = a < b ? a : b;
    const Kind high = a < b ? b : a;
    if (low == Kind::negative && high == Kind::uint64) return Kind::big_int;
    const bool numbers = low >= Kind::natural && high <= Kind::float64;
    const bool naive_times = low >= Kind::date && high <= Kind::timestamp_ns;
    const bool utc_times = low >= Kind::timestamp_us_utc && high <= Kind::timestamp_ns_utc;
    return numbers || naive_times || utc_times ? high : Kind::text;
}

HR_END_NAMESPACE
