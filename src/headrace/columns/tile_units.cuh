// Units of one column of fixed width and 32 rows, a warp's work: each lane finds its field, reads it by the column's
// fast form, and stores the value next to its neighbours'. What the form declines is called for (by_rule).
#pragma once

#include "columns/fast_values.cuh"
#include "columns/tile_rows.cuh"

namespace headrace {

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

// A lane's field. `n` is 0 where it has none, or none that a fast form may read.
struct Located {
    bool here;   // its row gets a value, or a null, from this lane
    bool asks;   // the rules decide, unless the fast form does
    bool sound;  // as RowField
    u32 slot;
    u32 end;  // staged, without the closing quote; somewhere in the head if there is no field
    u32 n;
    u32 first;  // byte
};

HR_COLD RowField irregular_field(const TileMemory& memory, const ConvertTask& task, u32 column, u64 row) {
    return field_of_row(memory, task, memory.tile, memory.window, column, row);
}

// `slot`: where the lane's field is in the window if the tile is regular.
HR_FN Located locate(const TileMemory& memory, const ConvertTask& task, const Tile& tile, const Window& window,
                     const ConvertColumn& column, i32 slot, u64 row) {
    Located found{false, false, true, static_cast<u32>(slot), head_bytes, 0, 0};
    bool mine = static_cast<u32>(slot) < window.count;
    found.here = mine;
    if (!tile.regular) {
        const RowField field = irregular_field(memory, task, column.position, row);
        mine = field.mine;
        found.here = mine || field.missing;
        found.sound = field.sound;
        found.slot = field.slot;
    }
    if (!mine) return found;
    u32 begin = memory.places[found.slot] + 1u;
    found.end = memory.places[found.slot + 1];
    const u8* const text = staged_text(memory);
    found.asks = true;
    if (begin > found.end) return found;  // it began before the staged head
    found.first = text[begin];
    if (column.position == 0 && begin < found.end && is_line_end(task.dialect, static_cast<u8>(found.first))) {
        begin = skip_line_ends(memory, task.dialect, tile, begin);
        found.first = text[begin];
    }
    found.n = found.end - begin;
    found.asks = found.n != 0 || !(column.flags & CONVERT_EMPTY_IS_NULL);
    if (may_quote && found.n >= 2 && found.first == task.dialect.quote && (task.dialect.flags & PLAIN_QUOTES)) {
        found.n -= 2;
        --found.end;
        found.first = text[begin + 1];
    }
    if (!(column.flags & CONVERT_FAST)) found.n = 0;
    return found;
}

// The rest of a unit: what the fast form declined, and validity. `fast`: it gave a value.
template <class T, class Put>
HR_FN void settle_unit(const TileMemory& memory, const u8* text, const ConvertTask& task, const ConvertColumn& column,
                       const Located& found, u64 row, bool fast, T value, Put put) {
    bool present = fast;
    if (found.asks && !fast) {
        const Converted made = by_rule(memory, text, task, column, found.slot, row, found.sound);
        present = made.present;
        if constexpr (sizeof(T) == sizeof(Int128)) {
            value = made.value;
        } else if constexpr (sizeof(T) == 8) {
            value = bits_as<T>(made.value.low);
        } else {
            value = bits_as<T>(static_cast<u32>(made.value.low));
        }
    }
    if (found.here) put(value);
    const u32 rows = __ballot_sync(tile::all_lanes, found.here);
    put_bits(column.validity, row, rows, __ballot_sync(tile::all_lanes, present));
}

HR_FN void convert_integers(const TileMemory& memory, const u8* text, const ConvertTask& task,
                            const ConvertColumn& column, const Located& found, u64 row) {
    u32 words[2];
    load_before(reinterpret_cast<const u32*>(memory.text), found.end, words);
    const bool negative = found.first == '-';
    const u32 digits = found.n - (negative ? 1 : 0);
    u32 magnitude;
    bool fast = value_of(words, static_cast<i32>(digits), magnitude) && digits - 1 < 8;
    fast &= magnitude <= column.largest + (negative ? 1 : 0) && (!negative || column.is_signed);
    if ((column.flags & CONVERT_INFERRED) && digits > 1) {
        fast &= staged_text(memory)[found.end - digits] != '0';
    }
    const i64 value = fast ? (negative ? -static_cast<i64>(magnitude) : static_cast<i64>(magnitude)) : 0;
    settle_unit(memory, text, task, column, found, row, fast, value, [&](i64 v) {
        switch (column.width) {
            case 1:
                column.values[row] = static_cast<u8>(v);
                break;
            case 2:
                reinterpret_cast<u16*>(column.values)[row] = static_cast<u16>(v);
                break;
            case 4:
                reinterpret_cast<u32*>(column.values)[row] = static_cast<u32>(v);
                break;
            default:
                reinterpret_cast<i64*>(column.values)[row] = v;
        }
    });
}

template <class T>
HR_FN void convert_reals(const TileMemory& memory, const u8* text, const ConvertTask& task, const ConvertColumn& column,
                         const Located& found, u64 row) {
    u32 words[2], kept[2];
    load_before(reinterpret_cast<const u32*>(memory.text), found.end, words);
    const bool negative = found.first == '-';
    const u32 size = found.n - (negative ? 1 : 0);
    kept[0] = words[0];
    kept[1] = words[1];
    const u32 behind = close_point(words);
    const bool has_point = behind < size;
    if (!has_point) {
        words[0] = kept[0];
        words[1] = kept[1];
    }
    const u32 digits = size - (has_point ? 1 : 0);
    u32 mantissa;
    bool fast = value_of(words, static_cast<i32>(digits), mantissa) && digits - 1 < 8 && size <= 8;
    if ((column.flags & CONVERT_INFERRED) && size > 1) {
        const u8* const p = staged_text(memory) + (found.end - size);
        fast &= p[0] != '0' || !is_digit(p[1]);
    }
    T value = with_sign(divide_by_power(static_cast<T>(mantissa), has_point ? behind : 0), negative);
    if (!fast) value = 0;
    settle_unit(memory, text, task, column, found, row, fast, value,
                [&](T v) { reinterpret_cast<T*>(column.values)[row] = v; });
}

HR_FN void convert_dates(const TileMemory& memory, const u8* text, const ConvertTask& task, const ConvertColumn& column,
                         const Located& found, u64 row) {
    i32 days = 0;
    const bool fast = fast_date(reinterpret_cast<const u32*>(memory.text), found.end, found.n, days);
    settle_unit(memory, text, task, column, found, row, fast, fast ? days : 0,
                [&](i32 v) { reinterpret_cast<i32*>(column.values)[row] = v; });
}

HR_FN void convert_timestamps(const TileMemory& memory, const u8* text, const ConvertTask& task,
                              const ConvertColumn& column, const Located& found, u64 row) {
    i64 value = 0;
    const bool fast =
        fast_timestamp(reinterpret_cast<const u32*>(memory.text), found.end, found.n, column.units_per_second, value);
    settle_unit(memory, text, task, column, found, row, fast, fast ? value : 0,
                [&](i64 v) { reinterpret_cast<i64*>(column.values)[row] = v; });
}

HR_FN void convert_decimals(const TileMemory& memory, const u8* text, const ConvertTask& task,
                            const ConvertColumn& column, const Located& found, u64 row) {
    Int128 value = {0, 0};
    const bool fast = found.n - 1 < longest_fast && fast_decimal(reinterpret_cast<const u32*>(memory.text), found.end,
                                                                 found.n, column.precision, column.scale, value);
    if (!fast) value = {0, 0};
    settle_unit(memory, text, task, column, found, row, fast, value,
                [&](const Int128& v) { reinterpret_cast<Int128*>(column.values)[row] = v; });
}

// Times of day, durations, bools and nulls.
HR_FN void convert_others(const TileMemory& memory, const u8* text, const ConvertTask& task, const ConvertColumn& column,
                          const Located& found, u64 row) {
    bool set = false;
    settle_unit(memory, text, task, column, found, row, false, i64{0}, [&](i64 v) {
        set = v != 0;
        if (column.width == 4) reinterpret_cast<i32*>(column.values)[row] = static_cast<i32>(v);
        if (column.width == 8) reinterpret_cast<i64*>(column.values)[row] = v;
    });
    if (column.type != TypeId::boolean) return;
    const u32 rows = __ballot_sync(tile::all_lanes, found.here);
    put_bits(reinterpret_cast<u32*>(column.values), row, rows, __ballot_sync(tile::all_lanes, set));
}

// `slot` as in locate().
HR_FN void convert_unit(const TileMemory& memory, const u8* text, const ConvertTask& task, const Tile& tile,
                        const Window& window, const ConvertColumn& column, i32 slot, u64 row) {
    const Located found = locate(memory, task, tile, window, column, slot, row);
    switch (column.family) {
        case ConvertFamily::integer:
            return convert_integers(memory, text, task, column, found, row);
        case ConvertFamily::float32:
            return convert_reals<float>(memory, text, task, column, found, row);
        case ConvertFamily::float64:
            return convert_reals<double>(memory, text, task, column, found, row);
        case ConvertFamily::date:
            return convert_dates(memory, text, task, column, found, row);
        case ConvertFamily::timestamp:
            return convert_timestamps(memory, text, task, column, found, row);
        case ConvertFamily::decimal:
            return convert_decimals(memory, text, task, column, found, row);
        default:
            return convert_others(memory, text, task, column, found, row);
    }
}

}  // namespace headrace
