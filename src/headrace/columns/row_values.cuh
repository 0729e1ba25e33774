// Columns of fixed width: lanes' fields to values, by the common shapes alone. A record with a field of another shape is
// no longer live, and its tile is converted by the rules (convert.cu).
#pragma once

#include "columns/days.cuh"
#include "columns/row_fields.cuh"

namespace headrace {

// A column as the records of a warp need it.
struct OwnColumn {
    RowColumn column;
    bool last;      // of the record
    u32 separator;  // ^ '0', in all bytes
};

// A lane's field: its value, if it has a common shape, and its bytes.
template <class T>
struct Value {
    T value;
    u32 n;
    bool fine;
};

HR_FN void clear_bits(u32* validity, u64 first, u32 nulls) {
    if (tile::lane() != 0) return;
    const u32 shift = static_cast<u32>(first % 32);
    atomicAnd(&validity[first / 32], ~(nulls << shift));
    if (shift != 0 && nulls >> (32 - shift) != 0) atomicAnd(&validity[first / 32 + 1], ~(nulls >> (32 - shift)));
}

template <class T>
HR_FN void store_value(const RowColumn& column, u64 row, T value) {
    u8* const to = column.values + row * column.width;
    if constexpr (sizeof(T) == 4) {
        if (column.width == 1) {
            *to = static_cast<u8>(bits_as<u32>(value));
            return;
        }
        if (column.width == 2) {
            *reinterpret_cast<u16*>(to) = static_cast<u16>(bits_as<u32>(value));
            return;
        }
    }
    *reinterpret_cast<T*>(to) = value;
}

// Reads a field of each of a lane's records. `read(cursor)`: the common shape, without branches; `again(cursor, value)`:
// of the lanes that ask for it, others.
template <class T, class Read, class Again>
HR_FN void read_column(const OwnColumn& own, const RowGroup& group, Cursor (&cursors)[per_lane], Read read, Again again) {
    Value<T> values[per_lane];
    bool asks = false;
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        values[i] = read(cursors[i]);
        asks |= cursors[i].live && !values[i].fine;
    }
    if (__any_sync(tile::all_lanes, asks)) {
#pragma unroll
        for (u32 i = 0; i < per_lane; ++i) {
            const bool open = cursors[i].live && !values[i].fine;
            const bool null = open && values[i].n == 0 && (own.column.flags & ROW_EMPTY_IS_NULL);
            if (open && values[i].n != 0) again(cursors[i], values[i]);
            if (null) values[i] = {T{}, 0, true};
            const u32 nulls = __ballot_sync(tile::all_lanes, null);
            if (nulls != 0) clear_bits(own.column.validity, group.first + i * tile::lanes, nulls);
        }
    }
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        cursors[i].live = cursors[i].live && values[i].fine;
        if (!cursors[i].live) continue;
        store_value(own.column, group.row + i * tile::lanes, values[i].value);
        cursors[i].at += values[i].n + 1;
    }
}

// Bytes of a field that is longer than its window, or has a sign, if it may be a number of up to sixteen digits.
HR_FN u32 long_length(const u32* text, const Cursor& cursor, const OwnColumn& own, u32 n) {
    if (own.last || n < far_field) return n;
    const u32 plain = own.separator ^ zeros;
    return find_end(text, cursor.at + far_field, cursor.at + 3 * far_field, plain, plain) - cursor.at;
}

// Whether a number's digits and length are such as a window holds; inference takes a zero before other digits for text.
HR_FN bool fits_window(const OwnColumn& own, const Window& window, Digits digits) {
    const bool fits = are_digits(digits) && window.n - 1 < (own.last ? far_field : far_field - 1);
    return own.column.flags & ROW_CANONICAL ? fits && !has_zero_first(window) : fits;
}

// T: u32 for all widths up to 4, or u64.
template <class T>
HR_FN void read_integers(const u32* text, const OwnColumn& own, const RowGroup& group, Cursor (&cursors)[per_lane]) {
    const auto read = [&](const Cursor& cursor) {
        const Window window = open_window(text, cursor, own.last, own.separator);
        const Digits digits = align(window);
        const u32 magnitude = number_of(digits);
        return Value<T>{magnitude, window.n, fits_window(own, window, digits) && magnitude <= own.column.largest};
    };
    const auto again = [&](const Cursor& cursor, Value<T>& value) {
        value.n = long_length(text, cursor, own, value.n);
        if (value.n > 17) return;
        const bool canonical = own.column.flags & ROW_CANONICAL, is_signed = own.column.flags & ROW_SIGNED;
        const ShortDecimal found = read_decimal<4, false>(text, cursor.at + value.n, value.n, canonical);
        const u64 most = ~u64{0} >> (64 - 8 * own.column.width);
        const u64 largest = (is_signed ? most >> 1 : most) + (found.negative ? 1 : 0);
        value.fine = found.fine && found.mantissa <= largest && (!found.negative || is_signed);
        value.value = static_cast<T>(found.negative ? 0 - found.mantissa : found.mantissa);
    };
    read_column<T>(own, group, cursors, read, again);
}

template <class T>
HR_FN void read_reals(const u32* text, const OwnColumn& own, const RowGroup& group, Cursor (&cursors)[per_lane]) {
    const auto read = [&](const Cursor& cursor) {
        const Window window = open_window(text, cursor, own.last, own.separator);
        Digits digits = align(window);
        const u32 behind = close_point(digits);
        const bool fine = fits_window(own, window, digits) && window.n - (behind != no_point ? 1 : 0) != 0;
        const u32 fraction = behind != no_point ? behind / 8 : 0;
        return Value<T>{divide_by_power(static_cast<T>(number_of(digits)), fraction), window.n, fine};
    };
    const auto again = [&](const Cursor& cursor, Value<T>& value) {
        value.n = long_length(text, cursor, own, value.n);
        if (value.n > 17) return;
        const bool canonical = own.column.flags & ROW_CANONICAL;
        const ShortDecimal found = read_decimal<4, true>(text, cursor.at + value.n, value.n, canonical);
        constexpr u64 exact = u64{1} << (sizeof(T) == 4 ? 24 : 53);
        constexpr u32 most = sizeof(T) == 4 ? 10 : 15;
        value.fine = found.fine && found.mantissa <= exact && found.fraction <= most;
        const T whole = divide_long(static_cast<T>(found.mantissa), found.fraction);
        value.value = found.negative ? -whole : whole;
    };
    read_column<T>(own, group, cursors, read, again);
}

// Whether the field ends behind n bytes, of which `behind` is the next.
HR_FN bool ends_behind(const OwnColumn& own, const Cursor& cursor, u32 n, u32 behind) {
    return own.last ? cursor.end - cursor.at == n : behind == ((own.separator ^ zeros) & 0xFF);
}

// A field of fixed length: its value, or nothing, or something else.
template <class T>
HR_FN Value<T> fixed_value(const OwnColumn& own, const Cursor& cursor, u32 first, u32 n, bool fine, T value) {
    const bool empty = ends_behind(own, cursor, 0, first & 0xFF);
    return {value, empty ? 0 : n, fine};
}

// 2019-01-31
HR_FN void read_dates(const u32* text, const OwnColumn& own, const RowGroup& group, Cursor (&cursors)[per_lane]) {
    const auto read = [&](const Cursor& cursor) {
        u32 w[3];
        load_from(text, cursor.at, w);
        // "2019", "-01-", "31"
        const u32 a = w[0] ^ zeros, b = w[1] ^ 0x2D30302D, c = (w[2] ^ zeros) & 0x0000FFFF;
        const u32 wrong = (a + 0x76767676) | a | (b + 0x7F76767F) | b | (c + 0x00007676) | c;
        i32 days = 0;
        const bool is_date = days_of(four_digits(a), dot4(b, 0x00010A00, 0), dot4(c, 0x0000010A, 0), days);
        const bool fine = !(wrong & tile::top_bits) && is_date && ends_behind(own, cursor, 10, w[2] >> 16 & 0xFF);
        return fixed_value(own, cursor, w[0], 10, fine, days);
    };
    read_column<i32>(own, group, cursors, read, [](const Cursor&, Value<i32>&) {});
}

// 2019-01-31 23:59:58, or with a T
HR_FN void read_timestamps(const u32* text, const OwnColumn& own, const RowGroup& group, Cursor (&cursors)[per_lane]) {
    const auto read = [&](const Cursor& cursor) {
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
        const bool is_date = days_of(four_digits(a), dot4(b, 0x00010A00, 0), dot4(c, 0x0000010A, 0), days);
        bool fine = !(wrong & tile::top_bits) && (between == ' ' || between == 'T') && is_date && hour < 24 &&
                    minute < 60 && second < 60 && ends_behind(own, cursor, 19, w[4] >> 24);
        const i64 units = static_cast<i64>(own.column.more);
        const i64 whole = i64{days} * 86400 + ((hour * 60 + minute) * 60 + second);
        // 64 bits hold the nanoseconds of 292 years.
        constexpr i64 most = 9223372036;
        if (units == 1000000000 && (whole >= most || whole < -most)) fine = false;
        return fixed_value(own, cursor, w[0], 19, fine, fine ? whole * units : 0);
    };
    read_column<i64>(own, group, cursors, read, [](const Cursor&, Value<i64>&) {});
}

}  // namespace headrace
