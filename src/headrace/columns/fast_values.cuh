// Fast forms of the common shapes of dates and times in staged text, as of numbers (fast_numbers.cuh); and the form of
// a column.
#pragma once

#include "columns/days.cuh"
#include "columns/fast_numbers.cuh"

namespace headrace {

// 2019-01-31
HR_FN bool fast_date(const u32* text, u32 end, u32 n, i32& days) {
    u32 w[3];
    load_before(text, end, w);
    // "??20", "19-0", "1-31"
    const u32 a = (w[0] ^ 0x30300000) & 0xFFFF0000, b = w[1] ^ 0x302D3030, c = w[2] ^ 0x30302D30;
    const u32 wrong = (a + 0x76760000) | a | (b + 0x767F7676) | b | (c + 0x76767F76) | c;
    if (n != 10 || (wrong & 0x80808080)) return false;
    const u32 year = dot4(b, 0x0000010A, dot4(a, 0x010A0000, 0) * 100);
    const u32 month = dot4(c, 0x00000001, dot4(b, 0x0A000000, 0));
    return days_of(year, month, dot4(c, 0x010A0000, 0), days);
}

// 23:59:58 in two words.
HR_FN bool fast_clock(u32 low, u32 high, u32& seconds) {
    const u32 a = low ^ 0x303A3030, b = high ^ 0x30303A30;
    const u32 wrong = (a + 0x767F7676) | a | (b + 0x76767F76) | b;
    const u32 hour = dot4(a, 0x0000010A, 0);
    const u32 minute = dot4(b, 0x00000001, dot4(a, 0x0A000000, 0));
    const u32 second = dot4(b, 0x010A0000, 0);
    seconds = (hour * 60 + minute) * 60 + second;
    return !(wrong & 0x80808080) && hour < 24 && minute < 60 && second < 60;
}

// 2019-01-31 23:59:58, or with a T
HR_FN bool fast_timestamp(const u32* text, u32 end, u32 n, i64 units, i64& value) {
    u32 w[5];
    load_before(text, end, w);
    // "?201", "9-01", "-31 ", "23:5", "9:58"
    const u32 a = (w[0] ^ 0x30303000) & 0xFFFFFF00, b = w[1] ^ 0x30302D30, c = (w[2] ^ 0x0030302D) & 0x00FFFFFF;
    const u32 wrong = (a + 0x76767600) | a | (b + 0x76767F76) | b | (c + 0x0076767F) | c;
    const u32 between = w[2] >> 24;
    u32 seconds;
    if (n != 19 || (wrong & 0x80808080) || (between != ' ' && between != 'T')) return false;
    if (!fast_clock(w[3], w[4], seconds)) return false;
    const u32 year = dot4(b, 0x00000001, dot4(a, 0x010A6400, 0) * 10);
    i32 days;
    if (!days_of(year, dot4(b, 0x010A0000, 0), dot4(c, 0x00010A00, 0), days)) return false;
    const i64 whole = i64{days} * 86400 + seconds;
    // 64 bits hold the nanoseconds of 292 years.
    constexpr i64 most = 9223372036;
    if (units == 1000000000 && (whole >= most || whole < -most)) return false;
    value = whole * units;
    return true;
}

// 23:59:58
HR_FN bool fast_time(const u32* text, u32 end, u32 n, i64 units, i64& value) {
    u32 w[2], seconds;
    load_before(text, end, w);
    if (n != 8 || !fast_clock(w[0], w[1], seconds)) return false;
    value = seconds * units;
    return true;
}

// A column's fast form, if it has one. Leaves `value` zero where it declines.
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
            // Inferred instants have offsets.
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
