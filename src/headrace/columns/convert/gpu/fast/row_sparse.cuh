// Reads the records of a tile of numbers most of which are absent. First all warps store nulls for the whole tile. Then
// each lane takes a record and reads the fields that are not empty. It finds the next one by the bits of field ends.
//
// If the text is expected to be so, its values are cleared before the conversion, and tiles only clear bits. A tile has
// some 400 bytes of each of many columns, and storing those takes twice as long as clearing whole columns.
#pragma once

#include "columns/convert/gpu/fast/row_sizes.cuh"
#include "columns/convert/gpu/fast/row_values.cuh"

namespace headrace {

constexpr bool may_be_sparse = HR_RECORD_BYTES >= 64 && !may_quote;  // programs of many columns without strings

// Returns whether a column may be read so: its empty fields are nulls, and no word looks like a number.
HR_FN bool is_sparse_number(const RowColumn& column) {
    const u32 flags = column.flags & (ROW_EMPTY_IS_NULL | ROW_RESERVED);
    return column.kind <= RowKind::float8 && flags == ROW_EMPTY_IS_NULL;
}

// Returns whether fields have less than half a byte on average, and all columns may be read so. Has a barrier.
HR_FN bool is_sparse(const RowTask& task, const RowColumn* columns, const RowTile& tile) {
    if (!may_be_sparse || tile.blanks || 2 * tile_bytes >= 3 * tile.records * task.columns) return false;
    bool fits = true;
    for (u32 number = threadIdx.x; number < task.columns; number += threads) fits &= is_sparse_number(columns[number]);
    return __syncthreads_and(fits);
}

template <class T>
HR_FN void store_number_as(const RowColumn& column, u64 row, u64 bits) {
    *tile::in_global(reinterpret_cast<T*>(column.values) + row) = static_cast<T>(bits);
}
HR_FN void store_number(const RowColumn& column, u64 row, u64 bits) {
    switch (column.kind) {
        case RowKind::int1:
            return store_number_as<u8>(column, row, bits);
        case RowKind::int2:
            return store_number_as<u16>(column, row, bits);
        case RowKind::int4:
        case RowKind::float4:
            return store_number_as<u32>(column, row, bits);
        default:
            return store_number_as<u64>(column, row, bits);
    }
}

// Clears the bits of rows. Other tiles have the other rows of the first word and of the last one.
HR_FN void clear_bits(u32* validity, u64 first, u64 end) {
    for (u64 word = first / 32; word <= (end - 1) / 32; ++word) {
        const u32 before = word == first / 32 ? low_mask(static_cast<u32>(first % 32)) : 0;
        const u32 after = word == (end - 1) / 32 ? ~1u << ((end - 1) % 32) : 0;
        if ((before | after) == 0) {
            validity[word] = 0;
        } else {
            atomicAnd(&validity[word], before | after);
        }
    }
}

// Stores nulls for the tile's records. Ends with a barrier. Each lane of a warp loads a column, so that no store waits
// for a load. Then the warp stores the columns in turn.
HR_FN void store_nulls(const RowTask& task, const RowColumn* columns, const RowTile& tile) {
    const u64 first = tile.entry.record, end = first + tile.records;
    for (u32 group = tile::warp() * tile::lanes; group < task.columns; group += threads) {
        const u32 count = min(task.columns - group, tile::lanes), lane = tile::lane();
        RowColumn column = load_column(columns, group + min(lane, count - 1));
        if (lane < count) clear_bits(column.validity, first, end);
        const u64 values = reinterpret_cast<u64>(column.values);
        const u32 kind = static_cast<u32>(column.kind);
        for (u32 i = 0; i < count && !(task.flags & ROW_TASK_CLEARED); ++i) {
            column.values = reinterpret_cast<u8*>(tile::shuffle(values, i));
            column.kind = static_cast<RowKind>(tile::shuffle(kind, i));
            for (u64 row = first + lane; row < end; row += tile::lanes) store_number(column, row, 0);
        }
    }
    __syncthreads();
}

// Returns the bits of a number of up to eight bytes and a sign.
HR_FN Number<u64> short_bits(const RowMemory& memory, const RowColumn& column, u32 at, u32 n) {
    const u32* const text = staged_words(memory);
    const bool minus = staged_text(memory)[at] == '-';
    const FieldSpan field{minus ? at + 1 : at, minus ? n - 1 : n, 0, false};
    if (column.kind == RowKind::float4 || column.kind == RowKind::float8) {
        const ShortNumber found = short_number(text, column, field, point_of(column));
        if (column.kind == RowKind::float4) {
            const float value = divide_by_power(static_cast<float>(found.digits), found.fraction);
            return {bits_as<u32>(minus ? -value : value), found.fine};
        }
        const double value = divide_by_power(static_cast<double>(found.digits), found.fraction);
        return {bits_as<u64>(minus ? -value : value), found.fine};
    }
    const LeadingBytes window = open_window(text, field.begin);
    const Digits digits = align(window, field.n);
    const u32 magnitude = number_of(digits);
    const bool fits = fits_window(column, window, field.n, digits) && magnitude <= column.largest;
    return {minus ? 0 - u64{magnitude} : magnitude, fits && (!minus || (column.flags & ROW_SIGNED) != 0)};
}

// Reads the fields of a record that are not empty. Returns whether it has all fields, and all were read or left to the
// rules.
HR_FN bool read_sparse_record(RowMemory& memory, const RowTask& task, const RowColumn* columns, const Cursor& cursor,
                              u64 row) {
    u32 at = cursor.at, number = 0;
    bool fine = cursor.live;
    while (fine && at <= cursor.end) {
        const u32* const ends = memory.ends + at / 32;
        const u32 others = ~__funnelshift_r(ends[0], ends[1], at);
        const u32 empty = min(min(first_bit(others), 32u), cursor.end + 1 - at);
        at += empty;
        number += empty;
        if (empty == 32 || at > cursor.end) continue;
        fine = number < task.columns;
        if (!fine) break;
        const RowColumn column = load_column(columns, number);
        const u32 n = to_end(memory, at);
        const Number<u64> value = short_bits(memory, column, at, n);
        if (value.fine) {
            store_number(column, row, value.value);
            atomicOr(&column.validity[row / 32], 1u << (row % 32));
        } else {
            fine = leave_field(memory, column, row, {at, cursor.end, true});
        }
        at += n + 1;
        ++number;
    }
    return fine && number == task.columns;
}

// Reads a tile's records. Returns whether all were read.
HR_FN bool read_sparse(RowMemory& memory, const RowTask& task, const RowColumn* columns, const RowTile& tile) {
    store_nulls(task, columns, tile);
    bool whole = true;
    for (u32 record = threadIdx.x; record < tile.records; record += threads) {
        const Cursor cursor = cursor_at(memory, tile, record);
        whole &= read_sparse_record(memory, task, columns, cursor, tile.entry.record + record);
    }
    return whole;
}

}  // namespace headrace
