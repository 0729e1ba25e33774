// Converts fields of fixed width, by the common shapes alone. A record with a field of another shape is no longer live,
// and its tile is converted by convert.cu.
#pragma once

#include "columns/convert/gpu/dates.cuh"
#include "columns/convert/gpu/fast/row_fields.cuh"
#include "columns/convert/gpu/numbers.cuh"

namespace headrace {

HR_FN void clear_bits(u32* validity, u64 first, u32 nulls) {
    if (tile::lane() != 0) return;
    const u32 shift = static_cast<u32>(first % 32);
    atomicAnd(&validity[first / 32], ~(nulls << shift));
    if (shift != 0 && nulls >> (32 - shift) != 0) atomicAnd(&validity[first / 32 + 1], ~(nulls >> (32 - shift)));
}

// Reads a field of each of a lane's records. `read(field)`: the common shape, without branches. `again(field)`: longer
// shapes, for the lanes that need them.
template <class T, class Read, class Again>
HR_FN void read_column(const RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                       Cursor (&cursors)[per_lane], Read read, Again again) {
    Number<T> values[per_lane];
    FieldSpan fields[per_lane];
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
            // After the record's end every field is empty but does not belong to the record.
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

// Returns whether a number fits a window. Inferred numbers have no zero before other digits.
HR_FN bool fits_window(const RowColumn& column, const LeadingBytes& window, u32 n, Digits digits) {
    const bool fits = are_digits(digits) && n - 1 < window_bytes;
    return column.flags & ROW_CANONICAL ? fits && !has_zero_first(window, n) : fits;
}

template <class T>
HR_FN void read_integers(const RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                         Cursor (&cursors)[per_lane]) {
    const u32* const text = staged_words(memory);
    const auto read = [&](const FieldSpan& field) {
        const LeadingBytes window = open_window(text, field.begin);
        const Digits digits = align(window, field.n);
        const u32 magnitude = number_of(digits);
        return Number<T>{static_cast<T>(magnitude),
                         fits_window(column, window, field.n, digits) && magnitude <= column.largest};
    };
    const auto again = [&](const FieldSpan& field) {
        const bool canonical = column.flags & ROW_CANONICAL, is_signed = column.flags & ROW_SIGNED;
        u64 value = 0;
        const IntegerRange range{~u64{0} >> (64 - 8 * sizeof(T) + (is_signed ? 1 : 0)), is_signed};
        const NumberForm form{{}, canonical};
        const bool fine = read_long_integer(text, field.begin, field.begin + field.n, form, range, value);
        return Number<T>{static_cast<T>(value), fine};
    };
    read_column<T>(memory, task, column, group, cursors, read, again);
}

template <class T>
HR_FN void read_reals(const RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                      Cursor (&cursors)[per_lane]) {
    const u32* const text = staged_words(memory);
    const auto read = [&](const FieldSpan& field) {
        const LeadingBytes window = open_window(text, field.begin);
        Digits digits = align(window, field.n);
        const u32 after_point = close_point(digits);
        const bool fine =
            fits_window(column, window, field.n, digits) && field.n - (after_point != no_point ? 1 : 0) != 0;
        const u32 fraction = after_point != no_point ? after_point / 8 : 0;
        return Number<T>{divide_by_power(static_cast<T>(number_of(digits)), fraction), fine};
    };
    const auto again = [&](const FieldSpan& field) {
        T value = 0;
        const NumberForm form{{}, (column.flags & ROW_CANONICAL) != 0};
        const bool fine = read_long_real(text, field.begin, field.begin + field.n, form, value);
        return Number<T>{value, fine};
    };
    read_column<T>(memory, task, column, group, cursors, read, again);
}

HR_FN void read_dates(const RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                      Cursor (&cursors)[per_lane]) {
    const auto read = [&](const FieldSpan& field) {
        i32 days = 0;
        const bool fine = fast_date(staged_words(memory), field.begin + date_bytes, field.n, days);
        return Number<i32>{days, fine};
    };
    const auto again = [](const FieldSpan&) { return Number<i32>{0, false}; };
    read_column<i32>(memory, task, column, group, cursors, read, again);
}

HR_FN void read_timestamps(const RowMemory& memory, const RowTask& task, const RowColumn& column, const RowGroup& group,
                           Cursor (&cursors)[per_lane]) {
    const auto read = [&](const FieldSpan& field) {
        i64 value = 0;
        const i64 units = static_cast<i64>(column.offsets_or_units);
        const bool fine = fast_timestamp(staged_words(memory), field.begin + timestamp_bytes, field.n, units, value);
        return Number<i64>{value, fine};
    };
    const auto again = [](const FieldSpan&) { return Number<i64>{0, false}; };
    read_column<i64>(memory, task, column, group, cursors, read, again);
}

}  // namespace headrace
