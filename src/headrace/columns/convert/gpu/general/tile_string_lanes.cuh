// Reads strings of a tile of many columns, a column per lane. A unit of one column and 32 rows leaves lanes idle if a
// tile has few rows, and needs a scan to add up sizes. Here a warp takes up to 32 columns. Each lane goes through the
// rows of its column, so neighbouring lanes read neighbouring fields, and a lane adds up the sizes of its own.
//
// In texts without quotes most fields are plain: their ends delimit their text. A lane reads all of its fields so, or
// all by the rules.
//
// If there are fewer rows than lanes, a lane copies its strings as well. Otherwise units of one column and 32 rows copy
// them later (tile_copy.cuh). So that every warp has a unit, a column may have two lanes then, each with half of the
// rows.
#pragma once

#include "columns/convert/gpu/general/tile_lane_streams.cuh"
#include "columns/convert/gpu/general/tile_units.cuh"
#include "columns/convert/gpu/wide_tiles.cuh"

namespace headrace {

// What lanes do with their strings: add up their sizes, find the targets of the copies too, or copy them.
enum class LaneWork : u8 { measure, place, copy };

constexpr u32 lane_strings = 64;  // Columns from which on a lane has one: of fewer, most lanes of a warp may be idle.
static_assert(lane_strings >= lane_columns);  // programs of fewer columns have no lanes

// Returns whether a window's strings are measured with a column per lane.
HR_FN bool has_string_lanes(const ConvertMemory& memory, const ConvertTask& task) {
    return has_lanes && memory.tile.regular && task.strings >= lane_strings;
}

// Returns whether lanes copy their strings: there are few rows, and every thread has a column.
HR_FN bool lanes_copy(const ConvertMemory& memory, const ConvertTask& task, const RowSpan& rows) {
    return has_lanes && memory.tile.regular && task.strings >= threads && rows.end - rows.first < span * few_rows;
}

// Appends a string that other warps do not copy.
HR_FN void append_string(const ConvertMemory& memory, LaneStream<u32>& stream, const StringField& field) {
    const u32 end = field.begin + field.size;
    if (!field.doubled) return stream.append(memory, field.begin, end);
    const u8* const text = staged_text(memory);
    for (u32 at = field.begin; at < end; ++at) {
        if (!(memory.dropped[at / 32] >> (at % 32) & 1)) stream.append(text[at], 1);
    }
}

// The rows of a window in which a lane's column has a field.
struct ColumnRows {
    u64 first;
    u32 count;
    u32 slot;  // of the field in the first row
};

// Returns those of `rows`. The first and the last of these may lack the field. `fields`: those of the window, or 0 in
// lanes without a column.
HR_FN ColumnRows column_rows(const ConvertMemory& memory, const ConvertTask& task, const ConvertColumn& column,
                             const RowSpan& rows, u32 fields) {
    const TileStart& entry = memory.tile.entry;
    const i32 slot = static_cast<i32>(rows.first - entry.record) * static_cast<i32>(task.width) +
                     static_cast<i32>(column.position) - static_cast<i32>(entry.column + memory.window.first);
    const u32 before = slot < 0 ? 1 : 0;
    ColumnRows own{rows.first + before, 0, static_cast<u32>(slot) + before * task.width};
    if (own.slot < fields && own.first < rows.end) {
        own.count = static_cast<u32>(rows.end - own.first);
        own.count -= own.slot + (own.count - 1) * task.width < fields ? 0 : 1;
    }
    return own;
}

// Staged bytes of a field that its ends delimit. If it began before them, the size is that of no field.
struct PlainField {
    u32 begin, size;
};

HR_FN PlainField plain_field(const ConvertMemory& memory, const ConvertTask& task, const StringColumn& column,
                             u32 slot) {
    u32 begin = memory.places[slot] + 1u;
    if (column.first) begin = skip_line_ends(memory, task.dialect, memory.tile, begin);
    return {begin, memory.places[slot + 1] - begin};
}

constexpr u32 odd_lane = ~0u;

// Returns whether fields of a column are not plain: their type is not known, or some texts mean null.
HR_FN bool has_rules(const ConvertColumn& column) {
    return ((column.flags & CONVERT_INFERRED) && !has_type(column.guess)) || (column.flags & CONVERT_NULL_WORDS);
}

// Reads the sizes of a lane's plain fields. Returns the number of their bytes. Returns odd_lane if a field began before
// the staged bytes or is copied by all warps.
template <LaneWork work>
HR_FN u32 size_plain_lane(ConvertMemory& memory, const ConvertTask& task, const ColumnRows& rows,
                          const ConvertColumn& column) {
    const StringColumn own = string_column(column);
    const bool keeps_empty = !(own.flags & CONVERT_EMPTY_IS_NULL);
    const BitsBefore before = validity_before(memory.tile);
    ValidityStream validity = ValidityStream::at(own, rows.first);
    u32 done = 0, slot = rows.slot, row = static_cast<u32>(rows.first);
    bool is_plain = true;
    for (u32 left = rows.count; left != 0; --left, ++row, slot += task.width) {
        const PlainField field = plain_field(memory, task, own, slot);
        is_plain &= field.size < long_piece;
        if (work == LaneWork::place) {
            memory.targets[slot] = static_cast<u16>(done);
            validity.append(row, field.size != 0 || keeps_empty, before);
        }
        done += field.size;
    }
    if (work == LaneWork::place) validity.end(before);
    return is_plain ? done : odd_lane;
}

// Copies the strings of a lane for which size_plain_lane suffices. `base`: offset of the column's next byte.
HR_FN void copy_plain_lane(const ConvertMemory& memory, const ConvertTask& task, const ColumnRows& rows,
                           const ConvertColumn& column, u64 base) {
    const StringColumn own = string_column(column);
    const bool keeps_empty = !(own.flags & CONVERT_EMPTY_IS_NULL);
    const BitsBefore before = validity_before(memory.tile);
    LaneStream<u64> stream = LaneStream<u64>::at(own.values + base);
    OffsetStream offsets = OffsetStream::at(own, rows.first);
    ValidityStream validity = ValidityStream::at(own, rows.first);
    u32 slot = rows.slot, row = static_cast<u32>(rows.first);
    for (u32 left = rows.count; left != 0; --left, ++row, slot += task.width) {
        const PlainField field = plain_field(memory, task, own, slot);
        stream.append(memory, field.begin, field.begin + field.size);
        offsets.append(base += field.size);
        validity.append(row, field.size != 0 || keeps_empty, before);
    }
    stream.store_part();
    offsets.end();
    validity.end(before);
}

// Reads the fields of a lane's column by the rules. Returns the number of their bytes. `base`: as before.
template <LaneWork work>
HR_FN u32 convert_string_lane(ConvertMemory& memory, const u8* text, const ConvertTask& task, const ColumnRows& rows,
                              const ConvertColumn& column, u64 base) {
    constexpr bool writes = work != LaneWork::measure;
    const ConvertTile& tile = memory.tile;
    const bool classifies = (column.flags & CONVERT_INFERRED) && !has_type(column.guess);
    const StringColumn own = string_column(column);
    const BitsBefore before = validity_before(tile);
    LaneStream<u32> stream = LaneStream<u32>::at(own.values + base);
    OffsetStream offsets = OffsetStream::at(own, rows.first);
    ValidityStream validity = ValidityStream::at(own, rows.first);
    u32 done = 0, slot = rows.slot;
    for (u64 row = rows.first; row < rows.first + rows.count; ++row, slot += task.width) {
        FieldString found{};
        if (!classifies) {
            found = string_of(memory, text, task, column, own, static_cast<i32>(slot), row, writes);
        } else if (writes && row != tile.unclosed) {
            const FieldPlace place = place_of(memory, task, tile, memory.window, column.position, slot);
            classify_row(memory, text, task, column, place, row);
        }
        if (writes) validity.append(static_cast<u32>(row), found.present, before);
        if (work == LaneWork::place) memory.targets[slot] = static_cast<u16>(done);
        if (work == LaneWork::copy && found.size != 0) {
            u8* const to = own.values + base + done;
            if (leave_to_block(memory, to, found.field.begin, found.field.size, 0, !found.field.doubled) != 0) {
                append_string(memory, stream, found.field);
            } else {
                stream.store_part();
                stream = LaneStream<u32>::at(to + found.size);
            }
        }
        done += found.size;
        if (work == LaneWork::copy) offsets.append(base + done);
    }
    if (writes) validity.end(before);
    if (work == LaneWork::copy) {
        stream.store_part();
        offsets.end();
    }
    return done;
}

// The same as a function that is called, so that its registers do not displace those of lanes with plain fields.
template <LaneWork work>
HR_COLD u32 convert_odd_lane(ConvertMemory& memory, const u8* text, const ConvertTask& task, const ColumnRows& rows,
                             const ConvertColumn& column, u64 base) {
    return convert_string_lane<work>(memory, text, task, rows, column, base);
}

struct LaneUnits {
    u32 columns;  // of a unit
    u32 parts;    // 1 if a lane has all rows of its column, 2 if it has half of them
};

// Returns the units of strings with a column per lane. `copies`: lanes copy their strings, which they do in order.
HR_FN LaneUnits string_lane_units(const ConvertTask& task, bool copies) {
    constexpr u32 warps = threads / tile::lanes;
    const u32 parts = !copies && task.strings <= tile::lanes * warps / 2 ? 2 : 1;
    return {tile::lanes / parts, parts};
}
HR_FN u32 count_units(const LaneUnits& units, const ConvertTask& task) {
    return (task.strings + units.columns - 1) / units.columns;
}

// Reads the columns of strings of a window. `string_bytes`: for each column the offset of its next byte. `unit`: this
// warp's first unit. Returns the first one that is none of these.
template <LaneWork work>
HR_FN u32 convert_string_lanes(ConvertMemory& memory, const u8* text, const ConvertTask& task,
                               const ConvertColumn* columns, const RowSpan& rows, u64* string_bytes, u32 unit) {
    constexpr bool writes = work != LaneWork::measure;
    const LaneUnits units = string_lane_units(task, work == LaneWork::copy);
    const u32 part = tile::lane() / units.columns, lane = tile::lane() % units.columns;
    const u64 middle = units.parts == 1 ? rows.end : rows.first + (rows.end - rows.first + 1) / 2;
    const RowSpan half = part == 0 ? RowSpan{rows.first, middle} : RowSpan{middle, rows.end};
    for (; unit < count_units(units, task); unit = next_unit(memory.next_unit)) {
        const u32 number = unit * units.columns + lane;
        const bool has_column = number < task.strings;
        const ConvertColumn& column = columns[has_column ? number : 0];
        const bool classifies = (column.flags & CONVERT_INFERRED) && !has_type(column.guess);
        const bool reads = has_column && (classifies || !memory.tile.only_kinds);
        const u64 base = has_column ? string_bytes[number] : 0;
        const ColumnRows own = column_rows(memory, task, column, half, reads ? memory.window.count : 0);
        u32 added = 0;
        if (may_quote || memory.tile.has_errors || __any_sync(tile::all_lanes, has_column && has_rules(column))) {
            added = convert_string_lane<work>(memory, text, task, own, column, base);
        } else {
            added = size_plain_lane<work>(memory, task, own, column);
            if (added == odd_lane) {
                added = convert_odd_lane<work>(memory, text, task, own, column, base);
            } else if (work == LaneWork::copy) {
                copy_plain_lane(memory, task, own, column, base);
            }
        }
        if (units.parts == 2) {
            const u32 other = tile::shuffle(added, tile::lane() ^ units.columns);
            for (u32 i = 0; work == LaneWork::place && part == 1 && i < own.count; ++i) {
                u16& target = memory.targets[own.slot + i * task.width];
                target = static_cast<u16>(target + other);  // bytes of the column's first half
            }
            added += other;
        }
        if (work == LaneWork::place && has_column) memory.sized[number] = added;
        __syncwarp();
        const bool is_open = memory.tile.open_field && memory.tile.next.column == column.position;
        const u32 owners = __ballot_sync(tile::all_lanes, reads && !classifies && is_open);
        if (owners != 0) {
            const u32 owner = static_cast<u32>(__ffs(static_cast<int>(owners))) - 1;
            const u64 from = tile::shuffle(base + added, owner);
            const u32 open = tile::shuffle(number, owner);
            const u32 more = convert_unfinished<writes>(memory, task, columns[open], from);
            if (work == LaneWork::place) {
                keep_unfinished(memory, open, more);
            } else if (number == open) {
                added += more;
            }
        }
        if (work != LaneWork::place && reads) string_bytes[number] = base + added;
    }
    return unit;
}

}  // namespace headrace
