// Columns of fixed width: lanes' fields to values, by the common shapes alone. A record with a field of another shape
// is no longer live, and its tile is converted by the rules (convert.cu).
#pragma once

#include "columns/days.cuh"
#include "columns/row_fields.cuh"

namespace headrace {

// What a lane's field was read as, if it has a common shape.
template <class T>
struct Value {
    T value;
    bool fine;
};

HR_FN void clear_bits(u32* validity, u64 first, u32 nulls) {
    if (tile::lane() != 0) return;
    const u32 shift = static_cast<u32>(first % 32);
    atomicAnd(&validity[first / 32], ~(nulls << shift));
    if (shift != 0 && nulls >> (32 - shift) != 0) atomicAnd(&validity[first / 32 + 1], ~(nulls >> (32 - shift)));
}

// Reads a field of each of a lane's records. `read(field)`: the common shape, without branches; `again(field)`: of the
// lanes that ask for it, others.
template <class T, class Read, class Again>
HR_FN void read_column(const RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                       Cursor (&cursors)[per_lane], Read read, Again again) {
    Value<T> values[per_lane];
    Field fields[per_lane];
    bool asks = false;
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        fields[i] = field_at(memory, task, cursors[i].at, to_end(memory, cursors[i].at));
        values[i] = read(fields[i]);
        asks |= cursors[i].live && !values[i].fine;
    }
    if (__any_sync(tile::all_lanes, asks)) {
#pragma unroll
        for (u32 i = 0; i < per_lane; ++i) {
            const bool open = cursors[i].live && !values[i].fine;
            if (open && fields[i].n - 1 < 31) values[i] = again(fields[i]);
            // Behind the record's end every field is empty, and none is one of it.
            const bool null = open && fields[i].n == 0 && !fields[i].quoted && cursors[i].at <= cursors[i].end &&
                              (column.flags & ROW_EMPTY_IS_NULL);
            if (null) values[i] = {T{}, true};
            const u32 nulls = __ballot_sync(tile::all_lanes, null);
            if (nulls != 0) clear_bits(column.validity, group.first + i * tile::lanes, nulls);
        }
    }
    T* const to = reinterpret_cast<T*>(column.values) + group.row;
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        cursors[i].live = cursors[i].live && values[i].fine;
        if (!cursors[i].live) continue;
        to[i * tile::lanes] = values[i].value;
        cursors[i].at = fields[i].next;
    }
}

// Whether a number's digits and length are such as a window holds; inference takes a zero before other digits for text.
HR_FN bool fits_window(const RowColumn& column, const Window& window, u32 n, Digits digits) {
    const bool fits = are_digits(digits) && n - 1 < window_bytes;
    return column.flags & ROW_CANONICAL ? fits && !has_zero_first(window, n) : fits;
}

template <class T>
HR_FN void read_integers(const RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                         Cursor (&cursors)[per_lane]) {
    const u32* const text = staged_words(memory);
    const auto read = [&](const Field& field) {
        const Window window = open_window(text, field.begin);
        const Digits digits = align(window, field.n);
        const u32 magnitude = number_of(digits);
        return Value<T>{static_cast<T>(magnitude),
                        fits_window(column, window, field.n, digits) && magnitude <= column.largest};
    };
    const auto again = [&](const Field& field) {
        const bool canonical = column.flags & ROW_CANONICAL, is_signed = column.flags & ROW_SIGNED;
        if (field.n > 17) return Value<T>{0, false};
        const ShortDecimal found = read_decimal<4, false>(text, field.begin + field.n, field.n, canonical);
        constexpr u64 most = ~u64{0} >> (64 - 8 * sizeof(T));
        const u64 largest = (is_signed ? most >> 1 : most) + (found.negative ? 1 : 0);
        const bool fine = found.fine && found.mantissa <= largest && (!found.negative || is_signed);
        return Value<T>{static_cast<T>(found.negative ? 0 - found.mantissa : found.mantissa), fine};
    };
    read_column<T>(memory, task, column, group, cursors, read, again);
}

template <class T>
HR_FN void read_reals(const RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                      Cursor (&cursors)[per_lane]) {
    const u32* const text = staged_words(memory);
    const auto read = [&](const Field& field) {
        const Window window = open_window(text, field.begin);
        Digits digits = align(window, field.n);
        const u32 behind = close_point(digits);
        const bool fine = fits_window(column, window, field.n, digits) && field.n - (behind != no_point ? 1 : 0) != 0;
        const u32 fraction = behind != no_point ? behind / 8 : 0;
        return Value<T>{divide_by_power(static_cast<T>(number_of(digits)), fraction), fine};
    };
    const auto again = [&](const Field& field) {
        if (field.n > 17) return Value<T>{0, false};
        const bool canonical = column.flags & ROW_CANONICAL;
        const ShortDecimal found = read_decimal<4, true>(text, field.begin + field.n, field.n, canonical);
        constexpr u64 exact = u64{1} << (sizeof(T) == 4 ? 24 : 53);
        constexpr u32 most = sizeof(T) == 4 ? 10 : 15;
        const T whole = divide_long(static_cast<T>(found.mantissa), found.fraction);
        const bool fine = found.fine && found.mantissa <= exact && found.fraction <= most;
        return Value<T>{found.negative ? -whole : whole, fine};
    };
    read_column<T>(memory, task, column, group, cursors, read, again);
}

// 2019-01-31
HR_FN void read_dates(const RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                      Cursor (&cursors)[per_lane]) {
    const auto read = [&](const Field& field) {
        u32 w[3];
        load_from(staged_words(memory), field.begin, w);
        // "2019", "-01-", "31"
        const u32 a = w[0] ^ zeros, b = w[1] ^ 0x2D30302D, c = (w[2] ^ zeros) & 0x0000FFFF;
        const u32 wrong = (a + 0x76767676) | a | (b + 0x7F76767F) | b | (c + 0x00007676) | c;
        i32 days = 0;
        const bool is_date = days_of(four_digits(a), dot4(b, 0x00010A00, 0), dot4(c, 0x0000010A, 0), days);
        return Value<i32>{days, field.n == 10 && !(wrong & tile::top_bits) && is_date};
    };
    const auto again = [](const Field&) { return Value<i32>{0, false}; };
    read_column<i32>(memory, task, column, group, cursors, read, again);
}

// 2019-01-31 23:59:58, or with a T
HR_FN void read_timestamps(const RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                           Cursor (&cursors)[per_lane]) {
    const auto read = [&](const Field& field) {
        u32 w[5];
        load_from(staged_words(memory), field.begin, w);
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
        bool fine = field.n == 19 && !(wrong & tile::top_bits) && (between == ' ' || between == 'T') && is_date &&
                    hour < 24 && minute < 60 && second < 60;
        const i64 units = static_cast<i64>(column.more);
        const i64 whole = i64{days} * 86400 + ((hour * 60 + minute) * 60 + second);
        // 64 bits hold the nanoseconds of 292 years.
        constexpr i64 most = 9223372036;
        if (units == 1000000000 && (whole >= most || whole < -most)) fine = false;
        return Value<i64>{fine ? whole * units : 0, fine};
    };
    const auto again = [](const Field&) { return Value<i64>{0, false}; };
    read_column<i64>(memory, task, column, group, cursors, read, again);
}

}  // namespace headrace
