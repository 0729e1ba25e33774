// Units of one column of fixed width and some groups of 32 rows, a warp's work: each lane finds its field, reads it by
// the column's fast form, and stores the value next to its neighbours'. What the form declines is called for (by_rule),
// and so is every field of an irregular tile.
#pragma once

#include "columns/fast_values.cuh"
#include "columns/tile_rows.cuh"

namespace headrace {

// What a unit of a column has of the window: `groups` of 32 rows from `row` on, and the slot of this lane's first field
// if the tile is regular.
struct Unit {
    u64 row;  // this lane's first
    i32 slot;
    u32 groups;
};

// A value, and whether there is one; zero where there is none.
struct Converted {
    Int128 value;
    bool present;
};

// The slow way of one field.
HR_COLD Converted by_rule(const TileMemory& memory, const u8* text, const ConvertTask& task,
                          const ConvertColumn& column, u32 slot, u64 row, bool sound) {
    const FieldPlace place = place_of(memory, task, memory.tile, memory.window, column.position, slot);
    const FieldText field = text_of(memory, text, task, place, false);
    Converted result{};
    if (field.n == 0 && !field.quoted && (column.flags & CONVERT_EMPTY_IS_NULL)) return result;
    if ((column.flags & CONVERT_FAST) && place.begin >= 0 && field.n - 1 < longest_fast) {
        const u32 end = place.end - (field.quoted ? 1 : 0);
        result.present = fast_value(column, reinterpret_cast<const u32*>(memory.text), end,
                                    static_cast<u32>(field.n), result.value);
        if (result.present) return result;
    }
    u32 kind;
    const Settled settled = settle_field(column, field, task.dialect.quote, result.value, kind);
    result.present = settled == Settled::value;
    if (settled == Settled::value || settled == Settled::null || !sound) return result;
    FieldFault fault = fault_at(memory, task, place, column.position, row);
    if (settled == Settled::kind) {
        see_kind(column, kind, fault.begin, row);
        return result;
    }
    fault.kind = settled == Settled::deferred  ? FAULT_DEFERRED
                 : settled == Settled::invalid ? static_cast<u32>(Fault::type)
                                               : static_cast<u32>(Fault::overflow);
    report(memory, task, fault);
    return result;
}

// A value into the result.
template <class T>
HR_FN void put_value(const ConvertColumn& column, u64 row, T value) {
    reinterpret_cast<T*>(column.values)[row] = value;
}
HR_FN void put_sized(const ConvertColumn& column, u64 row, u64 value) {
    switch (column.width) {
        case 1:
            return put_value(column, row, static_cast<u8>(value));
        case 2:
            return put_value(column, row, static_cast<u16>(value));
        case 4:
            return put_value(column, row, static_cast<u32>(value));
        case 8:
            return put_value(column, row, value);
    }
}

// Whole words of validity are the rule.
HR_FN void put_validity(const ConvertColumn& column, u64 row, bool here, bool present) {
    if (__all_sync(tile::all_lanes, present)) {
        if (tile::lane() == 0) column.validity[row / 32] = ~0u;
        return;
    }
    const u32 rows = __ballot_sync(tile::all_lanes, here);
    put_bits(column.validity, row, rows, __ballot_sync(tile::all_lanes, present));
}

// A unit field by field, by the rules: of irregular tiles, and of columns without a fast form.
HR_COLD void convert_slowly(const TileMemory& memory, const u8* text, const ConvertTask& task,
                            const ConvertColumn& column, const Unit& unit) {
    for (u32 group = 0; group < unit.groups; ++group) {
        const u64 row = unit.row + 32 * group;
        const RowField field = field_of_row(memory, task, memory.tile, memory.window, column.position, row);
        Converted made{};
        if (field.mine) made = by_rule(memory, text, task, column, field.slot, row, field.sound);
        const bool here = field.mine || field.missing;
        if (here && column.width == 16) put_value(column, row, made.value);
        if (here && column.width != 16) put_sized(column, row, made.value.low);
        put_validity(column, row, here, made.present);
        if (column.type != TypeId::boolean) continue;
        const u32 rows = __ballot_sync(tile::all_lanes, here);
        const u32 set = __ballot_sync(tile::all_lanes, made.value.low != 0);
        put_bits(reinterpret_cast<u32*>(column.values), row, rows, set);
    }
}

// What a loop over groups needs of a column, in registers: stores to the result might change the table, for all that the
// compiler knows.
struct HotColumn {
    u8* values;
    u32* validity;
    u32 largest;
    bool first;     // of the record
    bool inferred;
    bool is_signed;
};

HR_FN HotColumn hot(const ConvertColumn& column) {
    return {column.values, column.validity, column.largest, column.position == 0,
            (column.flags & CONVERT_INFERRED) != 0, column.is_signed != 0};
}

// A lane's field in staged text. Where it has none, `end` is somewhere in the head, and `n` too large for every form.
struct Field {
    u32 begin, end;
    u32 n;
};

HR_FN Field locate(const TileMemory& memory, const ConvertTask& task, const Tile& tile, const HotColumn& column,
                   bool mine, i32 slot) {
    const u16* const place = memory.places + (mine ? slot : 0);
    Field field{place[0] + 1u, place[1], 0};
    if (column.first || may_quote) {
        const u8* const text = staged_text(memory);
        u32 first = field.begin < field.end ? text[field.begin] : 0;
        if (column.first && field.begin < field.end && is_line_end(task.dialect, static_cast<u8>(first))) {
            field.begin = skip_line_ends(memory, task.dialect, tile, field.begin);
            first = text[field.begin];
        }
        const bool quoted = may_quote && first == task.dialect.quote && (task.dialect.flags & PLAIN_QUOTES) &&
                            field.end - field.begin >= 2;
        if (quoted) {
            ++field.begin;
            --field.end;
        }
    }
    field.n = mine ? field.end - field.begin : ~0u;  // also huge where the field began before the staged head
    return field;
}

// A group in which the fast form declined some field: nulls, and what the rules decide. Ends what convert_fast began,
// so that the loop there holds nothing over the call but its own counters.
HR_COLD void settle_group(const TileMemory& memory, const u8* text, const ConvertTask& task,
                          const ConvertColumn& column, u32 slot, u64 row, bool mine, bool present, Int128 value) {
    if (mine && !present) {
        const Converted made = by_rule(memory, text, task, column, slot, row, true);
        value = made.value;
        present = made.present;
    }
    __syncwarp();
    if (mine && column.width == 16) put_value(column, row, value);
    if (mine && column.width != 16) put_sized(column, row, value.low);
    const u32 rows = __ballot_sync(tile::all_lanes, mine);
    put_bits(column.validity, row, rows, __ballot_sync(tile::all_lanes, present));
}

template <class T>
HR_FN Int128 as_words(T value) {
    if constexpr (sizeof(T) == sizeof(Int128)) {
        return value;
    } else if constexpr (sizeof(T) == 8) {
        return {bits_as<u64>(value), 0};
    } else if constexpr (sizeof(T) == 4) {
        return {bits_as<u32>(value), 0};
    } else {
        return {value, 0};
    }
}

// A unit of a regular tile. `read(field, mine, value)`: the fast form; all lanes come to it. Where no lane declines, a
// group costs one store of values and no branch that lanes take apart. Lane g keeps the word of validity of group g, and
// they are stored together.
template <class T, class Read>
HR_FN void convert_fast(const TileMemory& memory, const u8* text, const ConvertTask& task, const Tile& tile,
                        const Window& window, const ConvertColumn& column, const HotColumn& fast, const Unit& unit,
                        Read read) {
    i32 slot = unit.slot;
    const u32 count = window.count;
    T* to = reinterpret_cast<T*>(fast.values) + unit.row;
    u32 kept = 0;
#pragma unroll 1
    for (u32 group = 0; group < unit.groups; ++group, to += 32, slot += static_cast<i32>(32 * task.width)) {
        const bool mine = static_cast<u32>(slot) < count;
        const Field field = locate(memory, task, tile, fast, mine, slot);
        T value;
        const bool present = read(field, mine, value) && mine;
        if (__any_sync(tile::all_lanes, mine && !present)) {
            const u64 row = unit.row + 32 * group;
            settle_group(memory, text, task, column, static_cast<u32>(slot), row, mine, present, as_words(value));
            continue;
        }
        if (mine) *to = value;
        const u32 rows = __ballot_sync(tile::all_lanes, mine);
        if (tile::lane() == group) kept = rows;
    }
    u32* const word = fast.validity + (unit.row / 32 + tile::lane());
    if (kept == ~0u) {
        *word = kept;
    } else if (kept != 0) {
        atomicOr(word, kept);
    }
}

HR_FN bool has_leading_zero(const u8* text, u32 begin) { return text[begin] == '0' && is_digit(text[begin + 1]); }

// Up to eight digits, perhaps with a sign: its byte is cut off with what is before the field. It is asked for where some
// lane has no digits.
template <class T>
HR_FN bool read_integer(const TileMemory& memory, const HotColumn& column, const Field& field, bool mine, T& value) {
    const u8* const text = staged_text(memory);
    u32 two[2];
    load_before(reinterpret_cast<const u32*>(memory.text), field.end, two);
    u32 magnitude, largest = column.largest, digits = field.n;
    bool negative = false;
    bool fast = value_of(two, static_cast<i32>(digits), magnitude) && digits - 1 < 8;
    if (__any_sync(tile::all_lanes, mine && !fast)) {
        negative = !fast && column.is_signed && digits - 2 < 8 && text[field.begin] == '-';
        digits -= negative ? 1 : 0;
        largest += negative ? 1 : 0;
        fast = value_of(two, static_cast<i32>(digits), magnitude) && digits - 1 < 8;
    }
    fast = fast && magnitude <= largest;
    if constexpr (sizeof(T) == 8) {
        if (column.inferred && fast) fast = digits < 2 || !has_leading_zero(text, field.end - digits);
        value = static_cast<T>(negative ? -static_cast<i64>(magnitude) : static_cast<i64>(magnitude));
    } else {
        value = static_cast<T>(negative ? 0 - magnitude : magnitude);
    }
    return fast;
}

// Up to eight bytes and a sign.
template <class T>
HR_FN bool read_real(const TileMemory& memory, const HotColumn& column, const Field& field, bool mine, T& value) {
    const u8* const text = staged_text(memory);
    u32 two[2];
    load_before(reinterpret_cast<const u32*>(memory.text), field.end, two);
    u32 closed[2] = {two[0], two[1]};
    const u32 behind = close_point(closed);
    u32 size = field.n, mantissa;
    bool has_point = behind < size, negative = false;
    closed[0] = has_point ? closed[0] : two[0];
    closed[1] = has_point ? closed[1] : two[1];
    u32 digits = size - (has_point ? 1 : 0);
    bool fast = value_of(closed, static_cast<i32>(digits), mantissa) && digits - 1 < 8 && size <= 8;
    if (__any_sync(tile::all_lanes, mine && !fast)) {
        negative = !fast && size - 2 < 8 && text[field.begin] == '-';
        size -= negative ? 1 : 0;
        digits -= negative ? 1 : 0;
        fast = value_of(closed, static_cast<i32>(digits), mantissa) && digits - 1 < 8 && size <= 8;
    }
    if constexpr (sizeof(T) == 8) {
        if (column.inferred && fast) fast = size < 2 || !has_leading_zero(text, field.end - size);
    }
    value = with_sign(divide_by_power(static_cast<T>(mantissa), has_point ? behind : 0), negative);
    return fast;
}

template <class T>
HR_FN void convert_integers(const TileMemory& memory, const u8* text, const ConvertTask& task, const Tile& tile,
                            const Window& window, const ConvertColumn& column, const Unit& unit) {
    const HotColumn fast = hot(column);
    convert_fast<T>(memory, text, task, tile, window, column, fast, unit,
                    [&](const Field& field, bool mine, T& value) { return read_integer(memory, fast, field, mine, value); });
}

template <class T>
HR_FN void convert_reals(const TileMemory& memory, const u8* text, const ConvertTask& task, const Tile& tile,
                         const Window& window, const ConvertColumn& column, const Unit& unit) {
    const HotColumn fast = hot(column);
    convert_fast<T>(memory, text, task, tile, window, column, fast, unit,
                    [&](const Field& field, bool mine, T& value) { return read_real(memory, fast, field, mine, value); });
}

HR_FN void convert_unit(const TileMemory& memory, const u8* text, const ConvertTask& task, const Tile& tile,
                        const Window& window, const ConvertColumn& column, const Unit& unit) {
    const u32* const words = reinterpret_cast<const u32*>(memory.text);
    const ConvertFamily family =
        tile.regular && (column.flags & CONVERT_FAST) ? column.family : ConvertFamily::others;
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
            return convert_fast<i32>(
                memory, text, task, tile, window, column, hot(column), unit,
                [&](const Field& field, bool, i32& value) {
                value = 0;
                return fast_date(words, field.end, field.n, value);
            });
        case ConvertFamily::timestamp: {
            const i64 units = column.units_per_second;
            return convert_fast<i64>(memory, text, task, tile, window, column, hot(column), unit,
                                     [&](const Field& field, bool, i64& value) {
                                         value = 0;
                                         return fast_timestamp(words, field.end, field.n, units, value);
                                     });
        }
        case ConvertFamily::decimal: {
            const i32 precision = column.precision, scale = column.scale;
            return convert_fast<Int128>(memory, text, task, tile, window, column, hot(column), unit,
                                        [&](const Field& field, bool, Int128& value) {
                                            value = {0, 0};
                                            return field.n - 1 < longest_fast &&
                                                   fast_decimal(words, field.end, field.n, precision, scale, value);
                                        });
        }
        default:
            const Unit copy = unit;
            return convert_slowly(memory, text, task, column, copy);
    }
}

}  // namespace headrace
