// What a kind of text (rules/infer.hpp) makes of a column, and what a column taken for one kind holds.
#pragma once

#include "columns/rules/column_type.hpp"
#include "columns/rules/infer.hpp"

HR_BEGIN_NAMESPACE

HR_FN ColumnType type_of_kind(Kind kind) {
    switch (kind) {
        case Kind::boolean:
            return {TypeId::boolean};
        case Kind::natural:
        case Kind::negative:
            return {TypeId::int64};
        case Kind::uint64:
            return {TypeId::uint64};
        case Kind::float64:
            return {TypeId::float64};
        case Kind::date:
            return {TypeId::date32};
        case Kind::timestamp_us:
            return {TypeId::timestamp, 1'000'000, false};
        case Kind::timestamp_ns:
            return {TypeId::timestamp, 1'000'000'000, false};
        case Kind::timestamp_us_utc:
            return {TypeId::timestamp, 1'000'000, true};
        case Kind::timestamp_ns_utc:
            return {TypeId::timestamp, 1'000'000'000, true};
        case Kind::time_us:
            return {TypeId::time64, 1'000'000};
        case Kind::time_ns:
            return {TypeId::time64, 1'000'000'000};
        case Kind::duration_us:
            return {TypeId::duration, 1'000'000};
        case Kind::duration_ns:
            return {TypeId::duration, 1'000'000'000};
        case Kind::hex:
            return {TypeId::int64};
        case Kind::hex_uint64:
            return {TypeId::uint64};
        case Kind::empty:
        case Kind::text:
            break;
    }
    return {TypeId::string};
}

HR_FN bool same_type(const ColumnType& a, const ColumnType& b) {
    return a.id == b.id && a.units_per_second == b.units_per_second && a.utc == b.utc && a.zone == b.zone &&
           a.precision == b.precision && a.scale == b.scale;
}

// Whether values can be made under this guess. Without any value there is no type yet.
HR_FN bool is_settled(Kind guess) { return guess != Kind::empty; }

// Whether a column of this guess is of hexadecimal numbers, and not of the decimal ones of its type.
HR_FN bool is_hex_kind(Kind guess) { return guess == Kind::hex || guess == Kind::hex_uint64; }

// Sighted in place of a kind: a field whose kind the guess holds and whose value its type does not, such as a time of
// the year 1066 in a column of nanoseconds.
constexpr u8 UNFIT = static_cast<u8>(KIND_COUNT);

// Sighted beside a value: an integer in a column of floats that float64 does not hold exactly, such as 2^53 + 1.
constexpr u8 ROUNDED = static_cast<u8>(KIND_COUNT + 1);
constexpr u32 SIGHTINGS = KIND_COUNT + 2;

// Whether `value`, which a float column makes of this text, is not exactly the integer that the text is. `scratch` has
// room for n bytes, where numbers have other marks than the usual ones.
HR_COLD bool is_rounded(const NumberMarks& marks, const u8* p, usize n, double value, u8* scratch) {
    if (!are_usual(marks)) {
        if (!to_plain_number(marks, p, n, scratch, n)) return false;
        p = scratch;
    }
    i64 integer;
    constexpr double beyond = 9223372036854775808.0;
    return parse_int(p, n, integer) == Parse::ok && (value >= beyond || static_cast<i64>(value) != integer);
}

// Whether a field of that kind leaves the type of a column of this guess as it is, e.g. a date in a column of
// timestamps.
HR_COLD bool holds(Kind guess, Kind kind) {
    return is_settled(guess) && same_type(type_of_kind(join(guess, kind)), type_of_kind(guess));
}

HR_END_NAMESPACE
