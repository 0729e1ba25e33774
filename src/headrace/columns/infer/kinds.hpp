// What a kind of text (rules/infer.hpp) makes of a column, and what a column taken for one kind holds.
#pragma once

#include "columns/convert/convert.hpp"
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
        case Kind::big_int:
        case Kind::text:
            break;
    }
    return {TypeId::string};
}

HR_FN bool same_type(const ColumnType& a, const ColumnType& b) {
    return a.id == b.id && a.units_per_second == b.units_per_second && a.utc == b.utc && a.zone == b.zone &&
           a.precision == b.precision && a.scale == b.scale;
}

// Whether values can be made under this guess. Without any value there is no type yet; and long integers are text only
// as long as no float turns up, so until the whole column is seen its fields must go on saying what they are.
HR_FN bool is_settled(Kind guess) { return guess != Kind::empty && guess != Kind::big_int; }

// Whether a column of this guess is of hexadecimal numbers, and not of the decimal ones of its type.
HR_FN bool is_hex_kind(Kind guess) { return guess == Kind::hex || guess == Kind::hex_uint64; }

// Sighted in place of a kind: a field whose kind the guess holds and whose value its type does not, such as a time of
// the year 1066 in a column of nanoseconds.
constexpr u8 UNFIT = static_cast<u8>(KIND_COUNT);

// Whether a field of that kind leaves the type of a column of this guess as it is, e.g. a date in a column of
// timestamps.
HR_COLD bool holds(Kind guess, Kind kind) {
    return is_settled(guess) && same_type(type_of_kind(join(guess, kind)), type_of_kind(guess));
}

HR_END_NAMESPACE
