// Reads strings of a tile of many columns, a column per lane. A unit of one column and 32 rows leaves lanes idle if a
// tile has few rows, and needs a scan to add up sizes. Here a warp takes up to 32 columns. Each lane goes through the
// rows of its column, so neighbouring lanes read neighbouring fields, and a lane adds up the sizes of its own.
//
// Most fields are plain: their ends delimit their text. A lane reads all of its fields so, or all by the rules.
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

// Returns whether a window's strings are measured with a column per lane.
HR_FN bool has_string_lanes(const ConvertMemory& memory, const ConvertTask& task) {
    return memory.tile.regular && task.strings >= lane_strings;
}

// Returns whether lanes copy their strings: there are few rows, and every thread has a column.
HR_FN bool lanes_copy(const ConvertMemory& memory, const ConvertTask& task, const RowSpan& rows) {
    return memory.tile.regular && task.strings >= threads && rows.end - rows.first < span * few_rows;
}

// Appends a string that other warps do not copy.
HR_FN void append_string(const ConvertMemory& memory, LaneStream& stream, const StringField& field) {
    const u32 end = field.begin + field.size;
    if (!field.doubled) return stream.append(memory, field.begin, end);
    const u8* const text = staged_text(memory);
    for (u32 at = field.begin; at < end; ++at) {
        if (!(memory.dropped[at / 32] >> (at % 32) & 1)) stream.append(text[at], 1);
    }
}

// Returns the slot of a column's field in a row of a regular tile.
HR_FN i32 slot_of_row(const ConvertMemory& memory, const ConvertTask& task, const ConvertColumn& column, u64 row) {
    const TileStart& entry = memory.tile.entry;
    return static_cast<i32>(row - entry.record) * static_cast<i32>(task.width) + static_cast<i32>(column.position) -
           static_cast<i32>(entry.column + memory.window.first);
}

// The validity of a lane's rows, up to 32 at a time.
struct LaneValidity {
    u32 here, present;

    HR_MEMBER void add(u64 row, bool is_present) {
        here |= 1u << (row % 32);
        present |= is_present ? 1u << (row % 32) : 0;
    }
    // Stores the bits of a word if `row` is its last one, or the lane's.
    HR_MEMBER void end_row(const ConvertMemory& memory, const StringColumn& column, const RowSpan& rows, u64 row) {
        if (here == 0 || (row % 32 != 31 && row + 1 != rows.end)) return;
        store_bits(column.validity + row / 32, here, present, validity_before(memory.tile));
        *this = {0, 0};
    }
};

// Staged bytes of a field that its ends delimit. If it began before them, the size is that of no field.
struct PlainField {
    u32 begin, size;
};

HR_FN PlainField plain_field(const ConvertMemory& memory, const ConvertTask& task, const StringColumn& column,
                             i32 slot) {
    u32 begin = memory.places[slot] + 1u;
    if (column.first) begin = skip_line_ends(memory, task.dialect, memory.tile, begin);
    return {begin, memory.places[slot + 1] - begin};
}

constexpr u32 odd_lane = ~0u;

// Reads the sizes of a lane's fields by their ends alone. Returns the number of their bytes. Returns odd_lane if a
// field has quotes, may be a null text, or is copied by all warps. Parameters: convert_odd_lane.
template <LaneWork work>
HR_FN u32 size_plain_lane(ConvertMemory& memory, const ConvertTask& task, const RowSpan& rows,
                          const ConvertColumn& column, u32 fields) {
    if (by_dfa || memory.tile.has_errors || ((column.flags & CONVERT_INFERRED) && !has_type(column.guess))) {
        return odd_lane;
    }
    const StringColumn own = string_column(column);
    const bool keeps_empty = !(own.flags & CONVERT_EMPTY_IS_NULL);
    i32 slot = slot_of_row(memory, task, column, rows.first);
    u32 done = 0;
    bool is_plain = true;
    LaneValidity validity{};
    for (u64 row = rows.first; row < rows.end; ++row, slot += static_cast<i32>(task.width)) {
        if (static_cast<u32>(slot) < fields) {
            const PlainField field = plain_field(memory, task, own, slot);
            is_plain &= field.size < long_piece && !(own.null_sizes >> min(field.size, 63u) & 1);
            if (may_quote && is_plain) {
                is_plain = kept_bytes(memory, field.begin, field.begin + field.size, false) == field.size;
            }
            if (work == LaneWork::place) {
                memory.targets[slot] = static_cast<u16>(done);
                validity.add(row, field.size != 0 || keeps_empty);
            }
            done += field.size;
        }
        if (work == LaneWork::place) validity.end_row(memory, own, rows, row);
    }
    return is_plain ? done : odd_lane;
}

// Copies the strings of a lane for which size_plain_lane suffices.
HR_FN void copy_plain_lane(const ConvertMemory& memory, const ConvertTask& task, const RowSpan& rows,
                           const ConvertColumn& column, u32 fields, u64 base) {
    const StringColumn own = string_column(column);
    const bool keeps_empty = !(own.flags & CONVERT_EMPTY_IS_NULL);
    i32 slot = slot_of_row(memory, task, column, rows.first);
    LaneStream stream = LaneStream::at(own.values + base);
    OffsetStream offsets{};
    LaneValidity validity{};
    u64 last = 0;
    for (u64 row = rows.first; row < rows.end; ++row, slot += static_cast<i32>(task.width)) {
        if (static_cast<u32>(slot) < fields) {
            const PlainField field = plain_field(memory, task, own, slot);
            stream.append(memory, field.begin, field.begin + field.size);
            base += field.size;
            offsets.append(own, last = row + 1, base);
            validity.add(row, field.size != 0 || keeps_empty);
        }
        validity.end_row(memory, own, rows, row);
    }
    stream.store_part();
    offsets.end(own, last);
}

// Reads the fields of a lane's column in rows of a regular tile. Returns the number of their bytes. `fields`: those of
// the window, or 0 in lanes without a column. `base`: offset of the column's next byte. A function that is called, so
// that its registers do not displace those of lanes whose fields are plain.
template <LaneWork work>
HR_COLD u32 convert_odd_lane(ConvertMemory& memory, const u8* text, const ConvertTask& task, const RowSpan& rows,
                             const ConvertColumn& column, u32 fields, u64 base) {
    constexpr bool writes = work != LaneWork::measure;
    const ConvertTile& tile = memory.tile;
    const bool classifies = (column.flags & CONVERT_INFERRED) && !has_type(column.guess);
    const StringColumn own = string_column(column);
    i32 slot = slot_of_row(memory, task, column, rows.first);
    u32 done = 0;
    LaneStream stream = LaneStream::at(own.values + base);
    OffsetStream offsets{};
    LaneValidity validity{};
    u64 row = rows.first, last = 0;
    for (; row < rows.end; ++row, slot += static_cast<i32>(task.width)) {
        if (static_cast<u32>(slot) < fields) {
            FieldString found{};
            if (!classifies) {
                found = string_of(memory, text, task, column, own, slot, row, writes);
            } else if (writes && row != tile.unclosed) {
                const FieldPlace place =
                    place_of(memory, task, tile, memory.window, column.position, static_cast<u32>(slot));
                classify_row(memory, text, task, column, place, row);
            }
            validity.add(row, found.present);
            if (work == LaneWork::place) memory.targets[slot] = static_cast<u16>(done);
            if (work == LaneWork::copy && found.size != 0) {
                u8* const to = own.values + base + done;
                if (leave_to_block(memory, to, found.field.begin, found.field.size, 0, !found.field.doubled) != 0) {
                    append_string(memory, stream, found.field);
                } else {
                    stream.store_part();
                    stream = LaneStream::at(to + found.size);
                }
            }
            done += found.size;
            if (work == LaneWork::copy) offsets.append(own, last = row + 1, base + done);
        }
        if (writes) validity.end_row(memory, own, rows, row);
    }
    if (work == LaneWork::copy) {
        stream.store_part();
        offsets.end(own, last);
    }
    return done;
}

// Adds the bytes of a column's first half to the targets of the second one.
HR_FN void move_targets(ConvertMemory& memory, const ConvertTask& task, const RowSpan& rows,
                        const ConvertColumn& column, u32 fields, u32 before) {
    i32 slot = slot_of_row(memory, task, column, rows.first);
    for (u64 row = rows.first; row < rows.end; ++row, slot += static_cast<i32>(task.width)) {
        if (static_cast<u32>(slot) < fields) memory.targets[slot] = static_cast<u16>(memory.targets[slot] + before);
    }
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
        const u32 fields = reads ? memory.window.count : 0;
        u32 added = size_plain_lane<work>(memory, task, half, column, fields);
        if (added == odd_lane) {
            added = convert_odd_lane<work>(memory, text, task, half, column, fields, base);
        } else if (work == LaneWork::copy) {
            copy_plain_lane(memory, task, half, column, fields, base);
        }
        if (units.parts == 2) {
            const u32 other = tile::shuffle(added, tile::lane() ^ units.columns);
            if (work == LaneWork::place && part == 1) move_targets(memory, task, half, column, fields, other);
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
