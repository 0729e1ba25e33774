// Columns of fixed width: a lane's field to its value, by the common shapes alone. What has another shape makes the
// lane's cursor bad, and its tile is converted by the rules (convert.cu).
#pragma once

#include "columns/days.cuh"
#include "columns/row_fields.cuh"

namespace headrace {

// The 32 records that a warp reads.
struct RowGroup {
    u64 first;  // row of lane 0
    u64 row;
};

// What a field was read as.
enum class RowRead : u8 { value, null, declined };

HR_FN void clear_bits(u32* validity, u64 first, u32 nulls) {
    if (tile::lane() != 0) return;
    const u32 shift = static_cast<u32>(first % 32);
    atomicAnd(&validity[first / 32], ~(nulls << shift));
    if (shift != 0 && nulls >> (32 - shift) != 0) atomicAnd(&validity[first / 32 + 1], ~(nulls >> (32 - shift)));
}

// Stores what was read, and goes on behind the field of `n` bytes and its separator.
template <class T>
HR_FN void put_value(const RowColumn& column, const RowGroup& group, Cursor& cursor, u32 n, RowRead read, T value) {
    const bool null = read == RowRead::null;
    if (read == RowRead::declined) cursor.bad = true;
    if (!cursor.bad) cursor.at += n + 1;
    if (cursor.active) reinterpret_cast<T*>(column.values)[group.row] = null ? T{} : value;
    const u32 nulls = __ballot_sync(tile::all_lanes, null && cursor.active);
    if (nulls != 0) clear_bits(column.validity, group.first, nulls);
}

// A field longer than its window, or with a sign: its length, if it may be a number of up to sixteen digits.
HR_FN u32 long_length(const u32* text, const Cursor& cursor, const Window& window, bool last, u32 separator) {
    if (last || window.n < far_field) return window.n;
    return find_end(text, cursor.at + far_field, cursor.at + 3 * far_field, separator ^ zeros, separator ^ zeros) -
           cursor.at;
}

template <class T>
HR_FN void read_integers(const u32* text, const RowColumn& column, const RowGroup& group, Cursor& cursor, bool last,
                         u32 separator) {
    const Window window = open_window(text, cursor, last, separator);
    const Digits digits = align(window);
    const u32 magnitude = number_of(digits);
    const bool canonical = column.flags & ROW_CANONICAL;
    bool fine = are_digits(digits) && window.n - 1 < (last ? 8u : 7u) && magnitude <= column.largest;
    if (canonical && has_zero_first(window)) fine = false;
    T value = static_cast<T>(magnitude);
    u32 n = window.n;
    const bool null = n == 0 && (column.flags & ROW_EMPTY_IS_NULL);
    const bool asks = cursor.active && !cursor.bad && !fine && n != 0;
    if (__any_sync(tile::all_lanes, asks)) {
        if (asks) {
            n = long_length(text, cursor, window, last, separator);
            if (n <= 17) {
                const ShortDecimal found = read_decimal<4, false>(text, cursor.at + n, n, canonical);
                const bool is_signed = column.flags & ROW_SIGNED;
                constexpr u64 most = ~u64{0} >> (64 - 8 * sizeof(T));
                const u64 largest = (is_signed ? most >> 1 : most) + (found.negative ? 1 : 0);
                fine = found.fine && found.mantissa <= largest && (!found.negative || is_signed);
                value = static_cast<T>(found.negative ? 0 - found.mantissa : found.mantissa);
            }
        }
    }
    put_value(column, group, cursor, n, null ? RowRead::null : fine ? RowRead::value : RowRead::declined, value);
}

template <class T>
HR_FN void read_reals(const u32* text, const RowColumn& column, const RowGroup& group, Cursor& cursor, bool last,
                      u32 separator) {
    const Window window = open_window(text, cursor, last, separator);
    Digits digits = align(window);
    const u32 behind = close_point(digits);
    const bool has_point = behind != ~0u;
    const bool canonical = column.flags & ROW_CANONICAL;
    bool fine = are_digits(digits) && window.n - 1 < (last ? 8u : 7u) && window.n - (has_point ? 1 : 0) != 0;
    if (canonical && has_zero_first(window)) fine = false;
    T value = divide_by_power(static_cast<T>(number_of(digits)), has_point ? behind / 8 : 0);
    u32 n = window.n;
    const bool null = n == 0 && (column.flags & ROW_EMPTY_IS_NULL);
    const bool asks = cursor.active && !cursor.bad && !fine && n != 0;
    if (__any_sync(tile::all_lanes, asks)) {
        if (asks) {
            n = long_length(text, cursor, window, last, separator);
            if (n <= 17) {
                const ShortDecimal found = read_decimal<4, true>(text, cursor.at + n, n, canonical);
                constexpr u64 exact = u64{1} << (sizeof(T) == 4 ? 24 : 53);
                constexpr u32 most = sizeof(T) == 4 ? 10 : 15;
                fine = found.fine && found.mantissa <= exact && found.fraction <= most;
                const T whole = divide_long(static_cast<T>(found.mantissa), found.fraction);
                value = found.negative ? -whole : whole;
            }
        }
    }
    put_value(column, group, cursor, n, null ? RowRead::null : fine ? RowRead::value : RowRead::declined, value);
}

// Whether the field ends behind n bytes, of which `behind` is the next.
HR_FN bool ends_behind(const Cursor& cursor, u32 n, u32 behind, bool last, u32 separator) {
    return last ? cursor.end - cursor.at == n : behind == ((separator ^ zeros) & 0xFF);
}

// What a field of fixed length comes to that has it, or is empty.
HR_FN RowRead fixed_read(const RowColumn& column, const Cursor& cursor, bool fine, u32 first, bool last, u32 separator,
                         u32& n) {
    if (fine) return RowRead::value;
    n = 0;
    const bool empty = ends_behind(cursor, 0, first, last, separator);
    return empty && (column.flags & ROW_EMPTY_IS_NULL) ? RowRead::null : RowRead::declined;
}

// 2019-01-31
HR_FN void read_dates(const u32* text, const RowColumn& column, const RowGroup& group, Cursor& cursor, bool last,
                      u32 separator) {
    u32 w[3];
    load_from(text, cursor.at, w);
    // "2019", "-01-", "31"
    const u32 a = w[0] ^ zeros, b = w[1] ^ 0x2D30302D, c = (w[2] ^ zeros) & 0x0000FFFF;
    const u32 wrong = (a + 0x76767676) | a | (b + 0x7F76767F) | b | (c + 0x00007676) | c;
    i32 days = 0;
    const bool fine = !(wrong & tile::top_bits) && ends_behind(cursor, 10, w[2] >> 16 & 0xFF, last, separator) &&
                      days_of(four_digits(a), dot4(b, 0x00010A00, 0), dot4(c, 0x0000010A, 0), days);
    u32 n = 10;
    const RowRead read = fixed_read(column, cursor, fine, w[0] & 0xFF, last, separator, n);
    put_value(column, group, cursor, n, read, days);
}

// 2019-01-31 23:59:58, or with a T
HR_FN void read_timestamps(const u32* text, const RowColumn& column, const RowGroup& group, Cursor& cursor, bool last,
                           u32 separator) {
    u32 w[5];
    load_from(text, cursor.at, w);
    // "2019", "-01-", "31 2", "3:59", ":58"
    const u32 a = w[0] ^ zeros, b = w[1] ^ 0x2D30302D, c = (w[2] ^ zeros) & 0xFF00FFFF;
    const u32 d = w[3] ^ 0x30303A30, e = (w[4] ^ 0x0030303A) & 0x00FFFFFF;
    u32 wrong = (a + 0x76767676) | a | (b + 0x7F76767F) | b;
    wrong |= (c + 0x76007676) | c | (d + 0x76767F76) | d | (e + 0x0076767F) | e;
    const u32 between = w[2] >> 16 & 0xFF;
    const u32 hour = dot4(d, 0x00000001, dot4(c, 0x0A000000, 0));
    const u32 minute = dot4(d, 0x010A0000, 0), second = dot4(e, 0x00010A00, 0);
    i32 days = 0;
    bool fine = !(wrong & tile::top_bits) && (between == ' ' || between == 'T') && hour < 24 && minute < 60 &&
                second < 60 && ends_behind(cursor, 19, w[4] >> 24, last, separator) &&
                days_of(four_digits(a), dot4(b, 0x00010A00, 0), dot4(c, 0x0000010A, 0), days);
    const i64 units = static_cast<i64>(column.more);
    const i64 whole = i64{days} * 86400 + ((hour * 60 + minute) * 60 + second);
    // 64 bits hold the nanoseconds of 292 years.
    constexpr i64 most = 9223372036;
    if (units == 1000000000 && (whole >= most || whole < -most)) fine = false;
    u32 n = 19;
    const RowRead read = fixed_read(column, cursor, fine, w[0] & 0xFF, last, separator, n);
    put_value(column, group, cursor, n, read, whole * units);
}

}  // namespace headrace
