// Converts columns of fixed width, one warp per unit. A unit has one column and up to 4 groups of 32 rows. Each lane
// finds its field, reads it by the forms of the column's family (tile_forms.cuh), and stores the value next to its
// neighbours'. Fields that the forms decline are listed. When all units are done, whole warps convert the listed fields
// by the shared rules.
//
// If a tile has few rows of many columns, a unit has 32 columns and all rows instead. Each lane reads a column.
#pragma once

#include "columns/convert/gpu/general/tile_forms.cuh"
#include "columns/convert/gpu/general/tile_rules.cuh"

namespace headrace {

// Takes the next unit from the block's counter.
HR_FN u32 next_unit(u32& counter) {
    u32 unit = 0;
    if (tile::lane() == 0) unit = atomicAdd(&counter, 1u);
    return tile::shuffle(unit, 0);
}

// A unit of a column: `groups` of 32 rows from `row` on. `slot`: this lane's first field, if the tile is regular.
struct RowUnit {
    u32 number;  // of the column
    u64 row;     // this lane's first row
    i32 slot;
    u32 groups;
};

// Lists the fields that lanes leave to the rules. Returns false if the list has no place for all of them, or they are
// many; then none is listed.
HR_FN bool leave_fields(ConvertMemory& memory, u32 number, bool left, u32 slot) {
    const u32 lanes = __ballot_sync(tile::all_lanes, left), count = static_cast<u32>(__popc(lanes));
    if (count > max_left_lanes) return false;
    u32 first = 0;
    if (tile::lane() == 0) first = atomicAdd(&memory.left_count, count);
    first = tile::shuffle(first, 0);
    const u32 place = first + static_cast<u32>(__popc(lanes & low_mask(tile::lane())));
    const bool fits = first + count <= max_left;
    if (left && place < max_left) memory.left[place] = fits ? number * window_fields + slot : no_field;
    return fits;
}

// A unit's rows in one group: whether this lane's is converted here, and its field.
HR_FN RowField unit_field(const ConvertMemory& memory, const ConvertTask& task, const ConvertTile& tile,
                          const FieldWindow& window, const ConvertColumn& column, u64 row, i32 slot) {
    if (!tile.regular) return field_of_row(memory, task, tile, window, column.position, row);
    const bool mine = static_cast<u32>(slot) < window.count;
    return {mine, false, row != tile.unclosed, static_cast<u32>(slot)};
}

// Returns whether the short form may read a column's numbers: no word looks like one.
HR_FN bool may_read_short(const LoopColumn& loop, const ConvertColumn& column) {
    const bool is_number = loop.family == ConvertFamily::integer || loop.family == ConvertFamily::float32 ||
                           loop.family == ConvertFamily::float64;
    return is_number && !(loop.flags & CONVERT_RESERVED) && !is_hex_kind(column.guess);
}

// Converts a unit. If the short form reads all fields of a group, the group costs one store and no divergent branch.
// Lane g keeps the validity word of group g, and all words are stored together. Groups whose declined fields are not
// listed are converted by the rules after the loop, so that no register is live across a call.
HR_FN void convert_unit(ConvertMemory& memory, const u8* text, const ConvertTask& task, const ConvertTile& tile,
                        const FieldWindow& window, const ConvertColumn& column, const RowUnit& unit) {
    if (column.family == ConvertFamily::others) {
        return convert_by_rules(memory, text, task, column, unit.row, low_mask(unit.groups));
    }
    const LoopColumn loop = loop_column(column);
    const bool tries_short = may_read_short(loop, column);
    u32 valid_bits = 0, true_bits = 0, rows = 0, declined = 0;
#pragma unroll 1
    for (u32 group = 0; group < unit.groups; ++group) {
        const u64 row = unit.row + 32 * group;
        const RowField own =
            unit_field(memory, task, tile, window, column, row, unit.slot + static_cast<i32>(32 * group * task.width));
        const UnitField field = locate(memory, task, tile, loop, own.mine, static_cast<i32>(own.slot));
        const bool is_null = field.n == 0 && !field.quoted && (loop.flags & CONVERT_EMPTY_IS_NULL);
        const bool asks = own.mine && own.sound && !is_null;
        Int128 value{0, 0};
        bool present = tries_short && read_short(memory, loop, field, value.low) && asks;
        if (__any_sync(tile::all_lanes, asks && !present)) {
            FormOutcome outcome = FormOutcome::value;
            if (asks && !present) outcome = read_form(memory, column, field, value);
            present = asks && outcome == FormOutcome::value;
            const bool left = outcome == FormOutcome::left;
            if (__any_sync(tile::all_lanes, left) && !leave_fields(memory, unit.number, left, own.slot)) {
                declined |= 1u << group;
                continue;
            }
        }
        const bool here = own.mine || own.missing;
        if (here) put_sized(loop, row, present ? value : Int128{0, 0});
        const u32 bits = __ballot_sync(tile::all_lanes, present), all = __ballot_sync(tile::all_lanes, here);
        const u32 trues = __ballot_sync(tile::all_lanes, present && value.low != 0);
        if (tile::lane() == group) {
            valid_bits = bits;
            true_bits = trues;
            rows = all;
        }
    }
    const u64 word = unit.row / 32 + tile::lane();
    store_bits(loop.validity + word, rows, valid_bits, validity_before(tile));
    if (loop.family == ConvertFamily::boolean) {
        store_bits(reinterpret_cast<u32*>(loop.values) + word, rows, true_bits, bools_before(tile));
    }
    if (declined != 0) convert_by_rules(memory, text, task, column, unit.row, declined);
}

// Converts the listed fields by the rules, one a thread. Call after a barrier.
HR_COLD void convert_left(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                          const ConvertColumn* columns) {
    const u32 count = min(memory.left_count, max_left);
    for (u32 i = threadIdx.x; i < count; i += threads) {
        if (memory.left[i] == no_field) continue;
        const u32 slot = memory.left[i] % window_fields;
        const ConvertColumn& column = columns[memory.left[i] / window_fields];
        const u64 row = row_of_field(memory, task, slot);
        const Converted converted = by_rule(memory, text, task, column, slot, row, true);
        if (converted.present) put_over_null(column, row, converted.value);
    }
}

// Reads a lane's field by the long forms of its column, or by the shared rules.
HR_FN Converted read_field(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                           const ConvertTile& tile, const ConvertColumn& column, const LoopColumn& loop, i32 slot,
                           u64 row) {
    const UnitField field = locate(memory, task, tile, loop, true, slot);
    const bool is_null = field.n == 0 && !field.quoted && (loop.flags & CONVERT_EMPTY_IS_NULL);
    const bool sound = row != tile.unclosed;
    Converted result{{0, 0}, false};
    if (is_null || !sound) return result;
    if (loop.family != ConvertFamily::others) {
        const FormOutcome outcome = read_form(memory, column, field, result.value);
        result.present = outcome == FormOutcome::value;
        if (outcome == FormOutcome::null) result.value = {0, 0};
        if (outcome != FormOutcome::left) return result;
    }
    return by_rule(memory, text, task, column, static_cast<u32>(slot), row, true);
}

// Bits of a window's rows: bit r is that of row `first` + r.
struct LaneBits {
    u32 present, trues;
};

// Reads the fields of a lane's column that the short form has not read. `left`: their rows, as bits. A function that is
// called, so that its registers do not displace those of the loop over all rows.
HR_COLD LaneBits convert_left_rows(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                                   const ConvertColumn& column, u64 first, i32 first_slot, u32 left) {
    const LoopColumn loop = loop_column(column);
    LaneBits bits{0, 0};
    for (; left != 0; left &= left - 1) {
        const u32 number = static_cast<u32>(__ffs(static_cast<int>(left))) - 1, bit = 1u << number;
        const i32 slot = first_slot + static_cast<i32>(number * task.width);
        const Converted found = read_field(memory, text, task, memory.tile, column, loop, slot, first + number);
        put_sized(loop, first + number, found.value);
        bits.present |= found.present ? bit : 0;
        bits.trues |= found.value.low != 0 ? bit : 0;
    }
    return bits;
}

// Stores bits of rows from `first` on.
HR_FN void store_lane_bits(u32* words, u64 first, u32 rows, u32 bits, BitsBefore before) {
    u32* const word = words + first / 32;
    const u32 shift = static_cast<u32>(first % 32);
    store_bits(word, rows << shift, bits << shift, before);
    if (shift != 0) store_bits(word + 1, rows >> (32 - shift), bits >> (32 - shift), before);
}

// A lane's values of up to four rows, which have 32 bytes of the result if a value has 8. `mine`: bit k is set if the
// lane has row k.
constexpr u32 quad_rows = 4;
struct LaneQuad {
    u64 values[quad_rows];
    u32 mine;
};

// Stores the quads of a warp's columns, whose first row is `row`. Two neighbouring lanes store the values of a column,
// so that a store has 32 adjacent bytes of each of 16 columns. Scattered stores of 8 bytes cost as much as those of 32.
HR_FN void put_quads(const LoopColumn& column, u64 row, const LaneQuad& quad) {
    const u64 own = reinterpret_cast<u64>(column.values);
    const u32 packed = quad.mine | static_cast<u32>(column.width) << quad_rows;
#pragma unroll 1
    for (u32 first = 0; first < tile::lanes; first += tile::lanes / 2) {
        const u32 from = first + tile::lane() / 2, half = tile::lane() % 2;
        u8* const values = reinterpret_cast<u8*>(tile::shuffle(own, from));
        const u32 meta = tile::shuffle(packed, from), width = meta >> quad_rows, mine = meta >> 2 * half & 3;
        const u64 low[2] = {tile::shuffle(quad.values[0], from), tile::shuffle(quad.values[1], from)};
        const u64 high[2] = {tile::shuffle(quad.values[2], from), tile::shuffle(quad.values[3], from)};
        const u64 a = half != 0 ? high[0] : low[0], b = half != 0 ? high[1] : low[1];
        const u64 at = row + 2 * half;
        if (width == 8) {
            u64* const to = reinterpret_cast<u64*>(values) + at;
            if (mine == 3) {
                *reinterpret_cast<uint4*>(to) = {static_cast<u32>(a), static_cast<u32>(a >> 32), static_cast<u32>(b),
                                                 static_cast<u32>(b >> 32)};
            } else if (mine != 0) {
                to[mine - 1] = mine == 1 ? a : b;
            }
        } else if (width == 4) {
            u32* const to = reinterpret_cast<u32*>(values) + at;
            if (mine == 3) {
                *reinterpret_cast<u64*>(to) = (b << 32) | static_cast<u32>(a);
            } else if (mine != 0) {
                to[mine - 1] = static_cast<u32>(mine == 1 ? a : b);
            }
        }
    }
}

// Rows of a lane, as bits: those that are in the window, those that have a value, and those that other forms read.
struct ShortRows {
    u32 here, present, left;
};

// Reads nulls and fields of the short form, a column per lane, and stores them. `fields`: those of the window, or 0 in
// lanes that only take part in the stores. `family`: that of all columns if they have 8 bytes; `others` if they differ.
// So the loop has the code of one family, and no registers for the others.
template <ConvertFamily family>
HR_FN ShortRows read_lane(const ConvertMemory& memory, const ConvertTask& task, const RowSpan& rows, LoopColumn loop,
                          bool tries_short, u32 fields, i32 slot) {
    if constexpr (family != ConvertFamily::others) {
        loop.family = family;
        loop.width = 8;
    }
    const u32 count = static_cast<u32>(rows.end - rows.first);
    const bool has_quads = loop.width == 8 || loop.width == 4;
    ShortRows result{0, 0, 0};
    LaneQuad quad{};
#pragma unroll 1
    for (u32 number = 0; number < count; ++number, slot += static_cast<i32>(task.width)) {
        const u64 row = rows.first + number;
        const u32 bit = 1u << number, place = static_cast<u32>(row % quad_rows);
        u64 value = 0;
        if (static_cast<u32>(slot) < fields) {
            result.here |= bit;
            quad.mine |= 1u << place;
            const UnitField field = locate(memory, task, memory.tile, loop, true, slot);
            const bool is_null = field.n == 0 && !field.quoted && (loop.flags & CONVERT_EMPTY_IS_NULL);
            const bool fine = read_short(memory, loop, field, value) && tries_short && !is_null;
            value = fine ? value : 0;
            result.present |= fine ? bit : 0;
            result.left |= fine || is_null ? 0 : bit;
            if (!has_quads) put_sized(loop, row, Int128{value, 0});
        }
#pragma unroll
        for (u32 k = 0; k < quad_rows; ++k) quad.values[k] = place == k ? value : quad.values[k];
        if (place + 1 != quad_rows && number + 1 != count) continue;
        put_quads(loop, row - place, quad);
        quad.mine = 0;
    }
    return result;
}

// Converts a column per lane, in rows of a regular tile, fewer than 32. The rows of fields that the short form does not
// read are read last, over the zeros that are stored. `has_column`: false in lanes that only take part in the stores.
HR_FN void convert_lane(const ConvertMemory& memory, const u8* text, const ConvertTask& task, const RowSpan& rows,
                        const ConvertColumn& column, bool has_column) {
    const ConvertTile& tile = memory.tile;
    const LoopColumn loop = loop_column(column);
    const u32 fields = has_column ? memory.window.count : 0, count = static_cast<u32>(rows.end - rows.first);
    const i32 first_slot = static_cast<i32>(rows.first - tile.entry.record) * static_cast<i32>(task.width) +
                           static_cast<i32>(column.position) -
                           static_cast<i32>(tile.entry.column + memory.window.first);
    const bool tries_short = may_read_short(loop, column);
    const auto all_are = [&](ConvertFamily family) {
        return __all_sync(tile::all_lanes, loop.family == family && loop.width == 8) != 0;
    };
    ShortRows found;
    if (all_are(ConvertFamily::integer)) {
        found = read_lane<ConvertFamily::integer>(memory, task, rows, loop, tries_short, fields, first_slot);
    } else if (all_are(ConvertFamily::float64)) {
        found = read_lane<ConvertFamily::float64>(memory, task, rows, loop, tries_short, fields, first_slot);
    } else {
        found = read_lane<ConvertFamily::others>(memory, task, rows, loop, tries_short, fields, first_slot);
    }
    const u32 here = found.here;
    u32 present = found.present, left = found.left;
    __syncwarp();  // other lanes have stored zeros for the rows that are left
    const u64 unclosed = tile.unclosed - rows.first;
    if (unclosed < count) {
        left |= here & 1u << unclosed;
        present &= ~left;
    }
    u32 trues = 0;
    if (left != 0) {
        const LaneBits read = convert_left_rows(memory, text, task, column, rows.first, first_slot, left);
        present |= read.present;
        trues = read.trues;
    }
    store_lane_bits(loop.validity, rows.first, here, present, validity_before(tile));
    if (loop.family == ConvertFamily::boolean) {
        store_lane_bits(reinterpret_cast<u32*>(loop.values), rows.first, here, trues, bools_before(tile));
    }
}

// Converts columns of fixed width in a window of a regular tile, a column per lane. A unit has 32 columns and up to 24
// rows. `before`: number of the window's units of strings. `unit`: this warp's first one after them.
HR_FN void convert_lanes(ConvertMemory& memory, const u8* text, const ConvertTask& task, const ConvertColumn* columns,
                         const RowSpan& rows, u32 before, u32 unit) {
    constexpr u32 unit_rows = 24;
    const u32 others = task.columns - task.strings, groups = (others + tile::lanes - 1) / tile::lanes;
    const u64 begin = rows.first / quad_rows * quad_rows;
    const u32 parts = static_cast<u32>(rows.end - begin + unit_rows - 1) / unit_rows;
    while (unit < groups * parts) {
        const u32 column = task.strings + unit % groups * tile::lanes + tile::lane();
        const u64 first = begin + unit / groups * unit_rows;
        const RowSpan own{max(first, rows.first), min(first + unit_rows, rows.end)};
        convert_lane(memory, text, task, own, columns[min(column, task.columns - 1)], column < task.columns);
        __syncwarp();
        unit = next_unit(memory.next_unit) - before;
    }
}

}  // namespace headrace
