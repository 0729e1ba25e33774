// Reads dates and times in their most common form from staged text. `end`: the end of the field.
#pragma once

#include "columns/convert/gpu/digits.cuh"

namespace headrace {

constexpr u32 date_bytes = 10, timestamp_bytes = 19;

// Computes the days of a date of the years 1 to 9999. Returns false if there is no such date.
HR_FN bool days_of(u32 year, u32 month, u32 day, i32& days) {
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    const u32 most = month == 2 ? 28u + leap : 30 + ((month + month / 8) & 1);
    if (year == 0 || month - 1 > 11 || day - 1 >= most) return false;
    const u32 y = year - (month <= 2 ? 1 : 0);
    const u32 since_march = month + (month <= 2 ? 9 : -3);
    const u32 century = y / 100;
    days = static_cast<i32>(y * 365 + y / 4 - century + century / 4 + (153 * since_march + 2) / 5 + day) - 719469;
    return true;
}

// Reads 2019-01-31.
HR_FN bool fast_date(const u32* text, u32 end, u32 n, i32& days) {
    u32 w[3];
    load_before(text, end, w);
    // "??20", "19-0", "1-31"
    const u32 a = (w[0] ^ 0x30300000) & 0xFFFF0000, b = w[1] ^ 0x302D3030, c = w[2] ^ 0x30302D30;
    const u32 wrong = (a + 0x76760000) | a | (b + 0x767F7676) | b | (c + 0x76767F76) | c;
    if (n != date_bytes || (wrong & 0x80808080)) return false;
    const u32 year = dot4(b, 0x0000010A, dot4(a, 0x010A0000, 0) * 100);
    const u32 month = dot4(c, 0x00000001, dot4(b, 0x0A000000, 0));
    return days_of(year, month, dot4(c, 0x010A0000, 0), days);
}

// Reads 23:59:58 from two words.
HR_FN bool fast_clock(u32 low, u32 high, u32& seconds) {
    const u32 a = low ^ 0x303A3030, b = high ^ 0x30303A30;
    const u32 wrong = (a + 0x767F7676) | a | (b + 0x76767F76) | b;
    const u32 hour = dot4(a, 0x0000010A, 0);
    const u32 minute = dot4(b, 0x00000001, dot4(a, 0x0A000000, 0));
    const u32 second = dot4(b, 0x010A0000, 0);
    seconds = (hour * 60 + minute) * 60 + second;
    return !(wrong & 0x80808080) && hour < 24 && minute < 60 && second < 60;
}

// Reads 2019-01-31 23:59:58, or with a T.
HR_FN bool fast_timestamp(const u32* text, u32 end, u32 n, i64 units, i64& value) {
    u32 w[5];
    load_before(text, end, w);
    // "?201", "9-01", "-31 ", "23:5", "9:58"
    const u32 a = (w[0] ^ 0x30303000) & 0xFFFFFF00, b = w[1] ^ 0x30302D30, c = (w[2] ^ 0x0030302D) & 0x00FFFFFF;
    const u32 wrong = (a + 0x76767600) | a | (b + 0x76767F76) | b | (c + 0x0076767F) | c;
    const u32 between = w[2] >> 24;
    u32 seconds;
    if (n != timestamp_bytes || (wrong & 0x80808080) || (between != ' ' && between != 'T')) return false;
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

}  // namespace headrace
