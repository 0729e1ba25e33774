// Converts strings of a tile of few rows of many columns, a column per lane. A unit of one column and 32 rows would
// leave most lanes idle. A warp takes 32 columns. Each lane goes through the rows of its column and copies its short
// strings, so neighbouring lanes read neighbouring fields.
#pragma once

#include "columns/convert/gpu/general/tile_copy.cuh"
#include "columns/convert/gpu/general/tile_units.cuh"
#include "columns/convert/gpu/wide_tiles.cuh"

namespace headrace {

// Returns whether a window's strings are converted with a column per lane: every thread has one.
HR_FN bool has_string_lanes(const ConvertMemory& memory, const ConvertTask& task, const RowSpan& rows) {
    return memory.tile.regular && task.strings >= threads && rows.end - rows.first < span * few_rows;
}

// Copies a string's bytes by one lane, by words where the target is aligned.
HR_FN void copy_alone(const ConvertMemory& memory, u8* to, const StringField& field) {
    const u8* const text = staged_text(memory);
    if (field.doubled) {
        for (u32 at = field.begin; at < field.begin + field.size; ++at) {
            if (!(memory.dropped[at / 32] >> (at % 32) & 1)) *to++ = text[at];
        }
        return;
    }
    for (u32 i = 0; i < field.size;) {
        if ((reinterpret_cast<u64>(to + i) & 3) == 0 && i + 4 <= field.size) {
            u32 word[1];
            load_before(reinterpret_cast<const u32*>(memory.text), field.begin + i + 4, word);
            *reinterpret_cast<u32*>(to + i) = word[0];
            i += 4;
        } else {
            to[i] = text[field.begin + i];
            ++i;
        }
    }
}

// Converts the fields of a lane's column in rows of a regular tile. Returns the number of their bytes. `fields`: those
// of the window, or 0 in lanes without a column. `base`: offset of the column's next byte.
template <bool writes>
HR_FN u32 convert_string_lane(ConvertMemory& memory, const u8* text, const ConvertTask& task, const RowSpan& rows,
                              const ConvertColumn& column, u32 fields, u64 base) {
    const ConvertTile& tile = memory.tile;
    const bool classifies = (column.flags & CONVERT_INFERRED) && !has_type(column.guess);
    const StringColumn own = string_column(column);
    i32 slot = static_cast<i32>(rows.first - tile.entry.record) * static_cast<i32>(task.width) +
               static_cast<i32>(column.position) - static_cast<i32>(tile.entry.column + memory.window.first);
    u32 done = 0, here = 0, present = 0;
    for (u64 row = rows.first; row < rows.end; ++row, slot += static_cast<i32>(task.width)) {
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
            if (writes && found.size != 0) {
                u8* const to = own.values + base + done;
                if (leave_to_block(memory, to, found.field.begin, found.field.size, 0, !found.field.doubled) != 0) {
                    copy_alone(memory, to, found.field);
                }
            }
            done += found.size;
            if (writes) store_offset(own.offsets, own.has_long_offsets, row + 1, base + done);
        }
        if (writes && here != 0 && (row % 32 == 31 || row + 1 == rows.end)) {
            store_bits(own.validity + row / 32, here, present, validity_before(tile));
            here = present = 0;
        }
    }
    return done;
}

// Returns the number of units of strings with a column per lane.
HR_FN u32 string_lane_units(const ConvertTask& task) { return (task.strings + tile::lanes - 1) / tile::lanes; }

// Converts the columns of strings of a window, 32 a unit. `string_bytes`: for each column the offset of its next byte.
// `unit`: this warp's first unit. Returns the first one that is none of these.
template <bool writes>
HR_FN u32 convert_string_lanes(ConvertMemory& memory, const u8* text, const ConvertTask& task,
                               const ConvertColumn* columns, const RowSpan& rows, u64* string_bytes, u32 unit) {
    for (const u32 units = string_lane_units(task); unit < units; unit = next_unit(memory.next_unit)) {
        const u32 number = unit * tile::lanes + tile::lane();
        const bool has_column = number < task.strings;
        const ConvertColumn& column = columns[has_column ? number : 0];
        const bool classifies = (column.flags & CONVERT_INFERRED) && !has_type(column.guess);
        const bool reads = has_column && (classifies || !memory.tile.only_kinds);
        const u64 base = has_column ? string_bytes[number] : 0;
        u32 added =
            convert_string_lane<writes>(memory, text, task, rows, column, reads ? memory.window.count : 0, base);
        __syncwarp();
        const bool is_open = memory.tile.open_field && memory.tile.next.column == column.position;
        const u32 owners = __ballot_sync(tile::all_lanes, reads && !classifies && is_open);
        if (owners != 0) {
            const u32 owner = static_cast<u32>(__ffs(static_cast<int>(owners))) - 1;
            const u64 from = tile::shuffle(base + added, owner);
            const u32 more = convert_unfinished<writes>(memory, task, columns[unit * tile::lanes + owner], from);
            if (tile::lane() == owner) added += more;
        }
        if (reads) string_bytes[number] = base + added;
    }
    return unit;
}

}  // namespace headrace
