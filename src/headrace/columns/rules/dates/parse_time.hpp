// Parses times of day: HH:MM, HH:MM:SS or HH:MM:SS.f, from 00:00 to 23:59:59.999999999.
#pragma once

#include "columns/rules/dates/parse_date.hpp"

HR_BEGIN_NAMESPACE

// `out` counts from midnight.
HR_COLD Parse parse_time_of_day(const u8* p, usize n, Timestamp& out) {
    Timestamp t{0, 0, 0, false, false};
    usize at = 0;
    if (!read_time(p, n, at, t) || at != n) return Parse::invalid;
    out = t;
    return Parse::ok;
}

// Returns units since midnight; overflow if digits finer than the unit would be lost. T must hold the units of a day.
template <class T>
HR_COLD Parse parse_time(const u8* p, usize n, i64 units_per_second, T& out) {
    Timestamp t;
    i64 units;
    if (parse_time_of_day(p, n, t) != Parse::ok) return Parse::invalid;
    if (scale_timestamp(t, units_per_second, units) != Parse::ok) return Parse::overflow;
    out = static_cast<T>(units);
    return Parse::ok;
}

HR_END_NAMESPACE
