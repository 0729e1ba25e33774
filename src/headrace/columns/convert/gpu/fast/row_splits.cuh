// Reads parts of a record that begins far before a tile, or goes on far after it. Each tile reads the fields that end
// in it. Of a string that goes on after the tile it copies what it owns (owned_bytes). So records may have any length.
//
// Example, with a record of four fields in three tiles: "..7,ab | cdef | gh,5,x\n". The first tile reads 7 and copies
// what it owns of the second field, as the second tile does. The third tile copies the rest, stores that string's end,
// and reads 5 and x.
#pragma once

#include "columns/convert/gpu/fast/row_sizes.cuh"

namespace headrace {

// Returns whether lane 0's record of the group begins far before the tile.
HR_FN bool has_begin(const RowTile& tile, const RowGroup& group) {
    return tile.far && group.first == tile.entry.record;
}

// Returns whether a lane's record of the group goes on far after the tile.
HR_FN bool has_end(const RowTile& tile, const RowGroup& group) {
    return tile.far_after && tile.records - static_cast<u32>(group.first - tile.entry.record) < tile::lanes;
}

// Returns the last field end that is staged, or 0. All lanes of a warp call this together.
HR_FN u32 last_end_of(const RowMemory& memory, const RowTile& tile) {
    for (u32 until = chunks; until > tile.first_chunk; until -= min(until, tile::lanes)) {
        const u32 word = until - 1 - min(tile::lane(), until - 1);
        const u32 ends = word >= tile.first_chunk ? memory.ends[word] : 0;
        const u32 lanes = __ballot_sync(tile::all_lanes, ends != 0);
        const u32 last = 32 * word + 31 - static_cast<u32>(__clz(static_cast<i32>(ends)));
        if (lanes != 0) return tile::shuffle(last, first_bit(lanes));
    }
    return 0;
}

// Finds what a warp reads of records that the tile has parts of, and sets the cursors of their lanes. `own`: index of
// lane 0's record in the tile.
HR_FN void split_records(RowMemory& memory, const RowTask& task, const RowColumn* columns, const RowTile& tile, u32 own,
                         const RowGroup& group, Cursor& cursor) {
    if (has_end(tile, group)) {
        const u32 last = last_end_of(memory, tile);
        if (tile::lane() == 0) memory.split.last_end = static_cast<u16>(last);
        const u32 begin = static_cast<u32>(static_cast<i64>(tile.entries[1].record_begin) - tile.origin);
        if (own + tile::lane() == tile.records) cursor = {begin, tile.end - 1, true, false};
    }
    if (has_begin(tile, group) && tile::lane() == 0) {
        const TileStart entry = tile.entries[0];
        u32 fields = 0, number = 0;
        for (; number < task.columns && fields < entry.column; ++number) {
            const RowColumn column = load_column(columns, number);
            fields += column.kind == RowKind::skip ? column.largest : 1;
        }
        memory.split.enters = number;
        memory.split.skipped = fields - entry.column;
        memory.split.is_staged = static_cast<i64>(entry.field_begin) >= tile.origin + (halo_bytes - string_head);
        cursor = {memory.starts[0], cursor.end, false, false};
    }
    __syncwarp();
}

// Ends the reading of a record that goes on after the tile.
HR_FN void stop(Cursor& cursor) {
    cursor.live = false;
    cursor.end = cursor.at - 1;
}

// Skips fields of a record that is read in parts. If one of them goes on after the tile, nothing is left to be read.
HR_FN void skip_parts(const RowMemory& memory, Cursor& cursor, u32 count, bool is_open) {
    Cursor after = cursor;
    skip_fields(memory, after, count, false);
    if (is_open && cursor.live && (!after.live || after.at > cursor.end + 1)) {
        stop(cursor);
    } else {
        cursor = after;
    }
}

// Lets lane 0 read its record from the column on of which the tile has the first field. Stops a lane at a field that
// goes on after the tile. Then the result is the number of its bytes that the lane copies if it is a string. It is
// `rest_part` if the tile has only the end of a string, otherwise `no_part`.
HR_FN u32 split_column(const RowMemory& memory, const RowTile& tile, const RowColumn& column, u32 number,
                       const RowGroup& group, Cursor& cursor) {
    const bool is_open = has_end(tile, group) && group.row == tile.entry.record + tile.records;
    u32 part = no_part;
    const bool is_skip = column.kind == RowKind::skip;
    if (has_begin(tile, group) && tile::lane() == 0 && number == memory.split.enters) {
        const bool is_staged = memory.split.is_staged != 0;
        const u32 skipped = memory.split.skipped;
        cursor.live = is_staged || skipped != 0 || is_skip || column.kind == RowKind::text;
        cursor.is_short = false;  // skipped fields before this column may have set it
        if (skipped != 0) skip_parts(memory, cursor, skipped, is_open);
        if (may_quote && !is_staged && skipped == 0) part = rest_part;
    }
    if (is_open && cursor.live && cursor.at > memory.split.last_end) {
        stop(cursor);
        return cursor.at + string_head < tile.end ? tile.end - string_head - cursor.at : 0;
    }
    if (is_open && is_skip && cursor.live) {
        Cursor after = cursor;
        skip_parts(memory, after, column.largest, true);
        if (!after.live) cursor = after;
    }
    return part;
}

// Returns the span of a string. `field`: its span if it is not read in parts. `part`: as split_column returns it. A
// part begins at `begin`, perhaps with its opening quote. `cursor`: after the string.
HR_FN FieldSpan span_of_part(const FieldSpan& field, u32 begin, u32 part, const Cursor& cursor) {
    if (part == no_part || (part == rest_part && !cursor.live)) return field;
    return {begin, part == rest_part ? cursor.at - 1 - begin : part, field.next, true};
}

}  // namespace headrace
