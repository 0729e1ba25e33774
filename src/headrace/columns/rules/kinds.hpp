// Maps kinds of text (rules/infer.hpp) to column types, and determines which kinds a column covers.
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

// Returns whether a column of this guess has a type. A column of empty fields has none yet.
HR_FN bool has_type(Kind guess) { return guess != Kind::empty; }

// Returns whether a column of this guess has hexadecimal numbers, rather than decimal ones of the same type.
HR_FN bool is_hex_kind(Kind guess) { return guess == Kind::hex || guess == Kind::hex_uint64; }

// Recorded instead of a kind. The guess covers the field's kind but the type does not hold its value, such as a time in
// the year 1066 in nanoseconds.
constexpr u8 UNFIT = static_cast<u8>(KIND_COUNT);

// Recorded in addition to a value: an integer in a column of floats that float64 cannot represent exactly, such as 2^53
// + 1.
constexpr u8 ROUNDED = static_cast<u8>(KIND_COUNT + 1);
constexpr u32 SIGHTINGS = KIND_COUNT + 2;

// Returns whether `value`, read from this text for a float column, differs from the integer that the text is.
// `scratch`: capacity of n bytes, used if numbers have other marks than the usual ones.
HR_COLD bool is_rounded(const NumberMarks& marks, const u8* p, usize n, double value, u8* scratch) {
    if (!are_usual(marks)) {
        if (!to_plain_number(marks, p, n, scratch, n)) return false;
        p = scratch;
    }
    i64 integer;
    constexpr double beyond = 9223372036854775808.0;
    return parse_int(p, n, integer) == Parse::ok && (value >= beyond || static_cast<i64>(value) != integer);
}

// Returns whether a field of this kind leaves the type of a column of this guess unchanged, e.g. a date in a column of
// timestamps.
HR_COLD bool holds(Kind guess, Kind kind) {
    return has_type(guess) && same_type(type_of_kind(join(guess, kind)), type_of_kind(guess));
}

HR_END_NAMESPACE
