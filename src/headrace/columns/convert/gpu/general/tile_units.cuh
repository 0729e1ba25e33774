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
    store_bits(loop.validity + (unit.row / 32 + tile::lane()), rows, valid_bits);
    if (loop.family == ConvertFamily::boolean) {
        store_bits(reinterpret_cast<u32*>(loop.values) + (unit.row / 32 + tile::lane()), rows, true_bits);
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
        if (!converted.present) continue;
        put_sized(column, row, converted.value);
        atomicOr(&column.validity[row / 32], 1u << (row % 32));
        if (column.type == TypeId::boolean && converted.value.low != 0) {
            atomicOr(reinterpret_cast<u32*>(column.values) + row / 32, 1u << (row % 32));
        }
    }
}

// Reads a lane's field by the forms of its column, or by the shared rules. `tries_short`: as may_read_short returns.
HR_FN Converted read_field(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                           const ConvertTile& tile, const ConvertColumn& column, const LoopColumn& loop,
                           bool tries_short, i32 slot, u64 row) {
    const UnitField field = locate(memory, task, tile, loop, true, slot);
    const bool is_null = field.n == 0 && !field.quoted && (loop.flags & CONVERT_EMPTY_IS_NULL);
    const bool sound = row != tile.unclosed;
    Converted result{{0, 0}, false};
    if (is_null || !sound) return result;
    if (tries_short && read_short(memory, loop, field, result.value.low)) {
        result.present = true;
        return result;
    }
    if (loop.family != ConvertFamily::others) {
        const FormOutcome outcome = read_form(memory, column, field, result.value);
        result.present = outcome == FormOutcome::value;
        if (outcome == FormOutcome::null) result.value = {0, 0};
        if (outcome != FormOutcome::left) return result;
    }
    return by_rule(memory, text, task, column, static_cast<u32>(slot), row, true);
}

// Converts a column per lane, in all rows of a window of a regular tile.
HR_FN void convert_lane(const ConvertMemory& memory, const u8* text, const ConvertTask& task, const ConvertTile& tile,
                        const FieldWindow& window, const RowSpan& rows, const ConvertColumn& column) {
    const LoopColumn loop = loop_column(column);
    const bool tries_short = may_read_short(loop, column);
    i32 slot = static_cast<i32>(static_cast<i64>(rows.first - tile.entry.record)) * static_cast<i32>(task.width) +
               static_cast<i32>(column.position) - static_cast<i32>(tile.entry.column + window.first);
    u32 here = 0, present = 0, trues = 0;
#pragma unroll 1
    for (u64 row = rows.first; row < rows.end; ++row, slot += static_cast<i32>(task.width)) {
        const u32 bit = 1u << (row % 32);
        if (static_cast<u32>(slot) < window.count) {
            const Converted found = read_field(memory, text, task, tile, column, loop, tries_short, slot, row);
            here |= bit;
            present |= found.present ? bit : 0;
            trues |= found.value.low != 0 ? bit : 0;
            put_sized(loop, row, found.value);
        }
        if (row % 32 != 31 && row + 1 != rows.end) continue;
        store_bits(loop.validity + row / 32, here, present);
        if (loop.family == ConvertFamily::boolean)
            store_bits(reinterpret_cast<u32*>(loop.values) + row / 32, here, trues);
        here = present = trues = 0;
    }
}

}  // namespace headrace
