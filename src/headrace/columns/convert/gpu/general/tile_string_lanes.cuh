// Reads strings of a tile of many columns, a column per lane. A unit of one column and 32 rows leaves lanes idle if a
// tile has few rows, and needs a scan to add up sizes. Here a warp takes up to 32 columns. Each lane goes through the
// rows of its column, so neighbouring lanes read neighbouring fields, and a lane adds up the sizes of its own.
//
// If there are fewer rows than lanes, a lane copies its strings as well. Otherwise units of one column and 32 rows copy
// them later (tile_copy.cuh). So that every warp has a unit, a column may have two lanes then, each with half of the
// rows.
#pragma once

#include "columns/convert/gpu/general/tile_copy.cuh"
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

// Stores a lane's consecutive bytes by aligned words. Other lanes store to other places, so each store costs as much as
// one of 32 bytes.
struct LaneStream {
    u8* to;      // of the word, aligned
    u32 held;    // its bytes
    u32 count;   // their number
    u32 others;  // how many of these belong to the column's strings before

    HR_MEMBER static LaneStream at(u8* to) {
        const u32 others = static_cast<u32>(reinterpret_cast<u64>(to) & 3);
        return {to - others, 0, others, others};
    }
    HR_MEMBER void store_part() const {
        for (u32 i = others; i < count; ++i) to[i] = static_cast<u8>(held >> (8 * i));
    }
    // Appends the lowest 1 to 4 bytes of a word.
    HR_MEMBER void append(u32 bytes, u32 size) {
        const u64 all = held | u64{bytes & (~0u >> (32 - 8 * size))} << (8 * count);
        held = static_cast<u32>(all);
        count += size;
        if (count < 4) return;
        const u32 more = count - 4;
        count = 4;
        if (others == 0) {
            *reinterpret_cast<u32*>(to) = held;
        } else {
            store_part();
        }
        *this = {to + 4, static_cast<u32>(all >> 32), more, 0};
    }
};

// Appends a string that other warps do not copy.
HR_FN void append_string(const ConvertMemory& memory, LaneStream& stream, const StringField& field) {
    const u32 end = field.begin + field.size;
    if (field.doubled) {
        const u8* const text = staged_text(memory);
        for (u32 at = field.begin; at < end; ++at) {
            if (!(memory.dropped[at / 32] >> (at % 32) & 1)) stream.append(text[at], 1);
        }
        return;
    }
    for (u32 at = field.begin; at < end; at += 4) {
        u32 word[1];
        load_from(reinterpret_cast<const u32*>(memory.text), at, word);
        stream.append(word[0], min(end - at, 4u));
    }
}

// Stores a lane's consecutive offsets, two of 4 bytes at a time.
struct OffsetStream {
    u32 held;
    bool has_held;

    HR_MEMBER void append(const StringColumn& column, u64 index, u64 value) {
        u32* const to = reinterpret_cast<u32*>(column.offsets) + index;
        if (column.has_long_offsets) {
            store_offset(column.offsets, true, index, value);
        } else if (has_held) {
            *reinterpret_cast<u64*>(to - 1) = value << 32 | held;
            has_held = false;
        } else if (reinterpret_cast<u64>(to) % 8 == 0) {
            *this = {static_cast<u32>(value), true};
        } else {
            *to = static_cast<u32>(value);
        }
    }
    // Call after the last one, whose index is `index`.
    HR_MEMBER void end(const StringColumn& column, u64 index) const {
        if (has_held) reinterpret_cast<u32*>(column.offsets)[index] = held;
    }
};

// Returns the slot of a column's field in a row of a regular tile.
HR_FN i32 slot_of_row(const ConvertMemory& memory, const ConvertTask& task, const ConvertColumn& column, u64 row) {
    const TileStart& entry = memory.tile.entry;
    return static_cast<i32>(row - entry.record) * static_cast<i32>(task.width) + static_cast<i32>(column.position) -
           static_cast<i32>(entry.column + memory.window.first);
}

// Reads the fields of a lane's column in rows of a regular tile. Returns the number of their bytes. `fields`: those of
// the window, or 0 in lanes without a column. `base`: offset of the column's next byte.
template <LaneWork work>
HR_FN u32 convert_string_lane(ConvertMemory& memory, const u8* text, const ConvertTask& task, const RowSpan& rows,
                              const ConvertColumn& column, u32 fields, u64 base) {
    constexpr bool writes = work != LaneWork::measure;
    const ConvertTile& tile = memory.tile;
    const bool classifies = (column.flags & CONVERT_INFERRED) && !has_type(column.guess);
    const StringColumn own = string_column(column);
    i32 slot = slot_of_row(memory, task, column, rows.first);
    u32 done = 0, here = 0, present = 0;
    LaneStream stream = LaneStream::at(own.values + base);
    OffsetStream offsets{};
    u64 row = rows.first, last = 0;
    for (; row < rows.end; ++row, slot += static_cast<i32>(task.width)) {
        const u32 bit = 1u << (row % 32);
        if (static_cast<u32>(slot) < fields) {
            here |= bit;
            FieldString found{};
            if (!classifies) {
                found = string_of(memory, text, task, column, own, slot, row, writes);
            } else if (writes && row != tile.unclosed) {
                const FieldPlace place =
                    place_of(memory, task, tile, memory.window, column.position, static_cast<u32>(slot));
                classify_row(memory, text, task, column, place, row);
            }
            if (found.present) present |= bit;
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
        if (writes && here != 0 && (row % 32 == 31 || row + 1 == rows.end)) {
            store_bits(own.validity + row / 32, here, present, validity_before(tile));
            here = present = 0;
        }
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
        u32 added = convert_string_lane<work>(memory, text, task, half, column, fields, base);
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
