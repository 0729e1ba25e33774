// Reads dates and times of the common shapes from staged text, and selects the fast form of a column.
#pragma once

#include "columns/convert/gpu/dates.cuh"
#include "columns/convert/gpu/general/fast_numbers.cuh"

namespace headrace {

// Reads a field by the column's fast form, if it has one. Leaves `value` zero if the form declines.
HR_FN bool fast_value(const ConvertColumn& column, const u32* text, u32 end, u32 n, Int128& value) {
    const bool inferred = column.flags & CONVERT_INFERRED;
    i64 units = 0;
    bool done = false;
    switch (family_of(column.type)) {
        case Family::integer:
            return fast_integer(text, end, n, range_of(column), inferred, value.low);
        case Family::real:
            if (column.type == TypeId::float32) {
                float real;
                done = fast_float(text, end, n, inferred, real);
                if (done) value.low = bits_as<u32>(real);
            } else {
                double real;
                done = fast_float(text, end, n, inferred, real);
                if (done) value.low = bits_as<u64>(real);
            }
            return done;
        case Family::date: {
            i32 days;
            done = fast_date(text, end, n, days);
            units = days;
            break;
        }
        case Family::timestamp:
            // Inferred instants have offsets, which the fast form does not read.
            if (inferred && (column.flags & CONVERT_UTC)) return false;
            done = fast_timestamp(text, end, n, column.units_per_second, units);
            break;
        case Family::time:
            done = fast_time(text, end, n, column.units_per_second, units);
            break;
        case Family::duration:
            done = !inferred && fast_time(text, end, n, column.units_per_second, units);
            break;
        case Family::decimal:
            return fast_decimal(text, end, n, column.precision, column.scale, value);
        default:
            return false;
    }
    if (done) value.low = static_cast<u64>(units);
    return done;
}

}  // namespace headrace
