// How many bytes the strings of a tile's records have: a lane takes a record, and counts bits of fields' ends between.
#pragma once

#include "columns/convert/gpu/fast/row_fields.cuh"

namespace headrace {

// The record of a lane; where there is none, some text.
HR_FN Cursor cursor_at(const RowMemory& memory, const RowTile& tile, u32 record) {
    Cursor cursor{head_bytes, head_bytes, record < tile.records};
    if (!cursor.live) return cursor;
    cursor.at = memory.starts[record];
    cursor.end = memory.starts[record + 1] - 1u;
    if (tile.returns) {
        // As many LF as records, and none of these empty, or with CR at its begin or two at its end: then each ends
        // with LF or CR LF. Otherwise blank lines might make up for records that end with CR alone, or a tile that
        // begins between CR and LF for one that ends there.
        const auto is_return = [&](u32 at) { return byte_at(memory, tile, at) == '\r'; };
        if (cursor.end > cursor.at && is_return(cursor.end - 1)) --cursor.end;
        cursor.live = cursor.end > cursor.at && !is_return(cursor.at) && !is_return(cursor.end - 1);
    }
    return cursor;
}

// Bytes of a field that are part of its text; `enclosed`: it is in quotes, or some field is.
HR_FN u32 kept_bytes(const RowMemory& memory, u32 begin, u32 end, bool enclosed) {
    if (!may_quote || !enclosed) return end - begin;
    return end - begin - (dropped_until(memory, end) - dropped_until(memory, begin));
}

// Bytes of the field from `begin` on that this tile copies by the rule of tile_strings.cuh, by which strings are
// placed. A field that is open at the tile's end ends behind it.
HR_FN u32 owned_bytes(const RowMemory& memory, const RowTile& tile, u32 begin, u32 end, bool open) {
    const u32 from = max(begin, tile.begin - string_head);
    const u32 until = open ? tile.end - string_head : end;
    return (open || end >= tile.begin) && until > from ? kept_bytes(memory, from, until, is_enclosed(memory, begin))
                                                       : 0;
}

// Goes on behind some fields, at least one.
HR_FN void skip_fields(const RowMemory& memory, Cursor& cursor, u32 count) {
    u32 at = cursor.at, left = count;
    while (at <= cursor.end) {
        const u32* const from = memory.ends + at / 32;
        u32 ends = __funnelshift_r(from[0], from[1], at);
        const u32 here = static_cast<u32>(__popc(ends));
        if (here >= left) {
            for (; left > 1; --left) ends &= ends - 1;
            at += first_bit(ends) + 1;
            left = 0;
            break;
        }
        left -= here;
        at += 32;
    }
    cursor.live = cursor.live && left == 0;
    if (cursor.live) cursor.at = at;
}

// A column of a record, or of what there is of the record that is open at the tile's end: how many bytes of it the tile
// owns.
HR_FN u32 measure_field(const RowMemory& memory, const RowTile& tile, Cursor& cursor, bool open) {
    const u32 begin = cursor.at, end = find_end(memory, begin);
    const bool ends = end <= cursor.end;
    const bool there = cursor.live && begin <= cursor.end;
    cursor.live = cursor.live && (ends || open);
    cursor.at = ends ? end + 1 : cursor.end + 1;
    return there ? owned_bytes(memory, tile, begin, end, !ends) : 0;
}

// The same of fields that are skipped; nothing is left of an open record that ends among them.
HR_FN void measure_skipped(const RowMemory& memory, Cursor& cursor, bool open, u32 count) {
    skip_fields(memory, cursor, count);
    if (!open || cursor.live) return;
    cursor.live = true;
    cursor.at = cursor.end + 1;
}

// Whether there is room for the sizes of its strings; a tile with records that are too short for their fields may have
// more of them.
HR_FN bool has_sizes(const RowTask& task, const RowTile& tile) { return tile.records / tile::lanes < task.groups; }

// How many bytes of each column of strings the tile owns, in `sums`, which are zero before: behind a barrier; and of
// each 32 records in `sizes`, strings side by side. Whether all records that this thread has read are whole.
// `column_of(number)`: its kind, what it skips, which strings it has.
template <class Columns>
HR_FN bool measure_records(RowMemory& memory, const RowTask& task, const RowTile& tile, Columns column_of, u16* sizes) {
    const bool has_open = tile.next.open && blockIdx.x + 1 != task.tiles;
    // As of whole records (cursor_at).
    bool whole = !(has_open && tile.returns && byte_at(memory, tile, memory.starts[tile.records]) == '\r');
    for (u32 first = tile::warp() * tile::lanes; first < tile.records + (has_open ? 1 : 0); first += threads) {
        const u32 record = first + tile::lane();
        const bool open = has_open && record == tile.records;
        Cursor cursor = cursor_at(memory, tile, record);
        if (open) cursor = {memory.starts[record], tile.end - 1, true};
        for (u32 number = 0; number < task.columns; ++number) {
            const auto column = column_of(number);
            if (column.kind != RowKind::text) {
                measure_skipped(memory, cursor, open, column.largest);
                continue;
            }
            const u32 size = measure_field(memory, tile, cursor, open);
            const u32 sum = __reduce_add_sync(tile::all_lanes, size);
            if (tile::lane() == 0) {
                atomicAdd(&memory.sums[column.string], sum);
                sizes[first / tile::lanes * task.strings + column.string] = static_cast<u16>(sum);
            }
        }
        // Behind what there is of an open record there is nothing.
        const bool fine = cursor.live && cursor.at == cursor.end + 1;
        whole &= fine || (open && (cursor.at > cursor.end || find_end(memory, cursor.at) > cursor.end)) ||
                 (record >= tile.records && !open);
    }
    return whole;
}

}  // namespace headrace
