// Converts columns of fixed width, one warp per unit. A unit has one column and up to 4 groups of 32 rows. Each lane
// finds its field, reads it by the fast form of the column's family, and stores the value next to its neighbours'.
// Fields that the fast form declines are converted by the shared rules (by_rule), as is every field of an irregular
// tile.
//
// If a tile has few rows of many columns, a unit has 32 columns and all rows instead. Each lane reads a column.
#pragma once

#include "columns/convert/gpu/general/tile_rules.cuh"

namespace headrace {

// A unit of a column: `groups` of 32 rows from `row` on. `slot`: this lane's first field, if the tile is regular.
struct RowUnit {
    u64 row;  // this lane's first row
    i32 slot;
    u32 groups;
};

// Copies of the column properties that the loop over groups uses. They stay in registers: the compiler must assume that
// stores to the result change the column table.
struct LoopColumn {
    u8* values;
    u32* validity;
    u32 largest;
    bool first;  // the first column of the record
    bool inferred;
    bool is_signed;
    bool empty_is_null;
};

HR_FN LoopColumn loop_column(const ConvertColumn& column) {
    return {column.values,
            column.validity,
            column.largest,
            column.position == 0,
            (column.flags & CONVERT_INFERRED) != 0,
            column.is_signed != 0,
            (column.flags & CONVERT_EMPTY_IS_NULL) != 0};
}

// A lane's field in staged text. If the lane has none, `end` is in the head and `n` is too large for every fast form.
struct UnitField {
    u32 begin, end;
    u32 n;
    bool empty;  // empty and not quoted
};

HR_FN UnitField locate(const ConvertMemory& memory, const ConvertTask& task, const ConvertTile& tile,
                       const LoopColumn& column, bool mine, i32 slot) {
    const u16* const place = memory.places + (mine ? slot : 0);
    UnitField field{place[0] + 1u, end_of_field(memory, task, place[1]), 0, false};
    if constexpr (by_dfa) {
        if (column.first) field.begin = last_start(memory, place[1], field.begin);
        skip_spaces(memory, task, field.begin, field.end);
        field.empty = field.begin == field.end;
        if (field.begin < field.end && field.end - field.begin >= 2 && is_opening(memory, task, field.begin)) {
            ++field.begin;
            --field.end;
        }
    } else if (column.first || may_quote) {
        const u8* const text = staged_text(memory);
        u32 first = field.begin < field.end ? text[field.begin] : 0;
        if (column.first && field.begin < field.end && is_line_end(task.dialect, static_cast<u8>(first))) {
            field.begin = skip_line_ends(memory, task.dialect, tile, field.begin);
            first = text[field.begin];
        }
        const bool quoted = may_quote && first == task.dialect.quote && (task.dialect.flags & PLAIN_QUOTES) &&
                            field.end - field.begin >= 2;
        field.empty = field.begin == field.end;
        if (quoted) {
            ++field.begin;
            --field.end;
        }
    } else {
        field.empty = field.begin == field.end;
    }
    field.n = mine ? field.end - field.begin : ~0u;  // also huge if the field began before the staged head
    return field;
}

// Converts a unit of a regular tile. `read(field, asks, value)` is the fast form; all lanes call it, and it returns
// whether it could read the field. A group costs one store of values and no divergent branch. Lane g keeps the validity
// word of group g, and all words are stored together. Groups in which the fast form declined a field are converted
// after the loop, so that no register is live across a call.
template <class T, class Read>
HR_FN void convert_fast(const ConvertMemory& memory, const u8* text, const ConvertTask& task, const ConvertTile& tile,
                        const FieldWindow& window, const ConvertColumn& column, const LoopColumn& fast,
                        const RowUnit& unit, Read read) {
    i32 slot = unit.slot;
    const u32 count = window.count;
    T* to = reinterpret_cast<T*>(fast.values) + unit.row;
    u32 valid_bits = 0, rows = 0, declined = 0;
#pragma unroll 1
    for (u32 group = 0; group < unit.groups; ++group, to += 32, slot += static_cast<i32>(32 * task.width)) {
        const bool mine = static_cast<u32>(slot) < count;
        const UnitField field = locate(memory, task, tile, fast, mine, slot);
        const bool asks = mine && !(field.empty && fast.empty_is_null);
        T value;
        const bool present = read(field, asks, value) && asks;
        if (__any_sync(tile::all_lanes, asks && !present)) {
            declined |= 1u << group;
            continue;
        }
        if (mine) *to = present ? value : T{};
        const u32 bits = __ballot_sync(tile::all_lanes, present), all = __ballot_sync(tile::all_lanes, mine);
        if (tile::lane() == group) {
            valid_bits = bits;
            rows = all;
        }
    }
    // Stores validity as put_validity does, with a group per lane.
    u32* const word = fast.validity + (unit.row / 32 + tile::lane());
    if (rows == ~0u) {
        *word = valid_bits;
    } else if (rows != 0) {
        if (valid_bits != 0) atomicOr(word, valid_bits);
        if ((rows & ~valid_bits) != 0) atomicAnd(word, ~(rows & ~valid_bits));
    }
    if (declined != 0) convert_by_rules(memory, text, task, column, unit.row, declined);
}

HR_FN bool has_leading_zero(const u8* text, u32 begin) { return text[begin] == '0' && is_digit(text[begin + 1]); }

// Returns whether an inferred number has no leading zero. Inferred numbers have eight bytes; with a leading zero before
// other digits the field is text.
template <class T>
HR_FN bool is_canonical(const ConvertMemory& memory, const LoopColumn& column, const UnitField& field) {
    if (sizeof(T) != 8 || !column.inferred || field.n <= 1) return true;
    const u8* const text = staged_text(memory);
    return !has_leading_zero(text, field.begin + (text[field.begin] == '-' ? 1 : 0));
}

// Reads an integer of up to eight digits. If some lane has none, all lanes try up to sixteen digits with an optional
// sign.
template <class T>
HR_FN bool read_integer(const ConvertMemory& memory, const LoopColumn& column, const UnitField& field, bool asks,
                        T& value) {
    const u32* const words = reinterpret_cast<const u32*>(memory.text);
    u32 two[2], magnitude;
    load_before(words, field.end, two);
    bool fast = value_of(two, static_cast<i32>(field.n), magnitude) && field.n - 1 < 8 && magnitude <= column.largest;
    value = static_cast<T>(magnitude);
    if (__any_sync(tile::all_lanes, asks && !fast)) {
        if (asks && !fast) {
            const Number<T> found = long_integer<T>(words, field.end, field.n, column.is_signed, false);
            fast = found.fine;
            value = found.value;
        }
    }
    return fast && is_canonical<T>(memory, column, field);
}

// Reads a number of up to eight bytes. If some lane has none, all lanes try up to sixteen bytes with an optional sign.
template <class T>
HR_FN bool read_real(const ConvertMemory& memory, const LoopColumn& column, const UnitField& field, bool asks,
                     T& value) {
    const u32* const words = reinterpret_cast<const u32*>(memory.text);
    u32 two[2];
    load_before(words, field.end, two);
    u32 closed[2] = {two[0], two[1]};
    const u32 after_point = close_point(closed);
    const bool has_point = after_point < field.n;
    closed[0] = has_point ? closed[0] : two[0];
    closed[1] = has_point ? closed[1] : two[1];
    const u32 digits = field.n - (has_point ? 1 : 0);
    u32 mantissa;
    bool fast = value_of(closed, static_cast<i32>(digits), mantissa) && digits - 1 < 8 && field.n <= 8;
    value = divide_by_power(static_cast<T>(mantissa), has_point ? after_point : 0);
    if (__any_sync(tile::all_lanes, asks && !fast)) {
        if (asks && !fast) {
            const Number<T> found = long_real<T>(words, field.end, field.n, false);
            fast = found.fine;
            value = found.value;
        }
    }
    return fast && is_canonical<T>(memory, column, field);
}

template <class T>
HR_FN void convert_integers(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                            const ConvertTile& tile, const FieldWindow& window, const ConvertColumn& column,
                            const RowUnit& unit) {
    const LoopColumn fast = loop_column(column);
    convert_fast<T>(
        memory, text, task, tile, window, column, fast, unit,
        [&](const UnitField& field, bool asks, T& value) { return read_integer(memory, fast, field, asks, value); });
}

template <class T>
HR_FN void convert_reals(const ConvertMemory& memory, const u8* text, const ConvertTask& task, const ConvertTile& tile,
                         const FieldWindow& window, const ConvertColumn& column, const RowUnit& unit) {
    const LoopColumn fast = loop_column(column);
    convert_fast<T>(
        memory, text, task, tile, window, column, fast, unit,
        [&](const UnitField& field, bool asks, T& value) { return read_real(memory, fast, field, asks, value); });
}

HR_FN void convert_unit(const ConvertMemory& memory, const u8* text, const ConvertTask& task, const ConvertTile& tile,
                        const FieldWindow& window, const ConvertColumn& column, const RowUnit& unit) {
    const u32* const words = reinterpret_cast<const u32*>(memory.text);
    const ConvertFamily family = tile.regular && (column.flags & CONVERT_FAST) ? column.family : ConvertFamily::others;
    switch (family) {
        case ConvertFamily::integer:
            switch (column.width) {
                case 1:
                    return convert_integers<u8>(memory, text, task, tile, window, column, unit);
                case 2:
                    return convert_integers<u16>(memory, text, task, tile, window, column, unit);
                case 4:
                    return convert_integers<u32>(memory, text, task, tile, window, column, unit);
                default:
                    return convert_integers<u64>(memory, text, task, tile, window, column, unit);
            }
        case ConvertFamily::float32:
            return convert_reals<float>(memory, text, task, tile, window, column, unit);
        case ConvertFamily::float64:
            return convert_reals<double>(memory, text, task, tile, window, column, unit);
        case ConvertFamily::date:
            return convert_fast<i32>(memory, text, task, tile, window, column, loop_column(column), unit,
                                     [&](const UnitField& field, bool, i32& value) {
                                         value = 0;
                                         return fast_date(words, field.end, field.n, value);
                                     });
        case ConvertFamily::timestamp: {
            const i64 units = column.units_per_second;
            return convert_fast<i64>(memory, text, task, tile, window, column, loop_column(column), unit,
                                     [&](const UnitField& field, bool, i64& value) {
                                         value = 0;
                                         return fast_timestamp(words, field.end, field.n, units, value);
                                     });
        }
        case ConvertFamily::decimal: {
            const i32 precision = column.precision, scale = column.scale;
            return convert_fast<Int128>(memory, text, task, tile, window, column, loop_column(column), unit,
                                        [&](const UnitField& field, bool, Int128& value) {
                                            value = {0, 0};
                                            return field.n - 1 < max_fast_bytes &&
                                                   fast_decimal(words, field.end, field.n, precision, scale, value);
                                        });
        }
        default:
            return convert_by_rules(memory, text, task, column, unit.row, low_mask(unit.groups));
    }
}

constexpr u32 min_rows = 32;     // a tile has few rows if it has less
constexpr u32 min_columns = 32;  // and many columns if it has these

// Stores the validity of a lane's column for the rows of one word, of which this tile has those in `mine`.
HR_FN void put_word(u32* word, u32 mine, u32 present) {
    if (mine == ~0u) {
        *word = present;
        return;
    }
    if (present != 0) atomicOr(word, present);
    if ((mine & ~present) != 0) atomicAnd(word, ~(mine & ~present));
}

// Reads a lane's field by the fast form of its column, or by the shared rules.
HR_FN Converted read_field(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                           const ConvertTile& tile, const ConvertColumn& column, const LoopColumn& fast, i32 slot,
                           u64 row) {
    const UnitField field = locate(memory, task, tile, fast, true, slot);
    Converted result{{0, 0}, false};
    if (field.empty && fast.empty_is_null) return result;
    if ((column.flags & CONVERT_FAST) && field.n - 1 < max_fast_bytes) {
        const u32* const words = reinterpret_cast<const u32*>(memory.text);
        result.present = fast_value(column, words, field.end, field.n, result.value);
        if (result.present) return result;
    }
    return by_rule(memory, text, task, column, static_cast<u32>(slot), row, row != tile.unclosed);
}

// Converts a column per lane, in all rows of a window of a regular tile.
HR_FN void convert_lane(const ConvertMemory& memory, const u8* text, const ConvertTask& task, const ConvertTile& tile,
                        const FieldWindow& window, const RowSpan& rows, const ConvertColumn& column) {
    const LoopColumn fast = loop_column(column);
    i32 slot = static_cast<i32>(static_cast<i64>(rows.first - tile.entry.record)) * static_cast<i32>(task.width) +
               static_cast<i32>(column.position) - static_cast<i32>(tile.entry.column + window.first);
    u32 mine = 0, present = 0;
#pragma unroll 1
    for (u64 row = rows.first; row < rows.end; ++row, slot += static_cast<i32>(task.width)) {
        const u32 bit = 1u << (row % 32);
        if (static_cast<u32>(slot) < window.count) {
            const Converted found = read_field(memory, text, task, tile, column, fast, slot, row);
            mine |= bit;
            present |= found.present ? bit : 0;
            if (column.width == 16) put_value(column, row, found.value);
            if (column.width != 16) put_sized(column, row, found.value.low);
            if (column.type == TypeId::boolean && found.value.low != 0)
                atomicOr(reinterpret_cast<u32*>(fast.values) + row / 32, bit);
        }
        if (row % 32 != 31 && row + 1 != rows.end) continue;
        put_word(fast.validity + row / 32, mine, present);
        mine = present = 0;
    }
}

}  // namespace headrace
