// Strings of rows: where each warp's go, and their bytes, gathered in shared memory so that stores are side by side.
#pragma once

#include "columns/row_values.cuh"

namespace headrace {

// Rows that a block reads at a time.
struct Round {
    u32 number;
    bool returns;  // there are carriage returns in the tile
};

// Bytes of a field of any length; a record that does not have it is no longer live, and then they are 0.
HR_FN u32 field_length(const u32* text, Cursor& cursor, const OwnColumn& own, bool returns) {
    const u32 plain = own.separator ^ zeros;
    const u32 end = find_end(text, cursor.at, cursor.end, plain, returns ? tile::repeated('\r') : plain);
    const bool fine = own.last ? end >= cursor.end && cursor.at <= cursor.end
                               : end < cursor.end && reinterpret_cast<const u8*>(text)[end] == (plain & 0xFF);
    cursor.live = cursor.live && fine;
    return !cursor.live ? 0 : own.last ? cursor.end - cursor.at : end - cursor.at;
}

// Bytes of a field that this tile copies by the rule of tile_strings.cuh, by which strings are placed. A field that is
// open at the tile's end ends behind it.
HR_FN u32 owned_bytes(const RowTile& tile, u32 begin, u32 end, bool open) {
    const u32 from = max(begin, tile.begin - string_head);
    const u32 until = open ? tile.end - string_head : end;
    return (open || end >= tile.begin) && until > from ? until - from : 0;
}

// Notes a column's strings of a warp: their places, and how many bytes they have.
HR_FN void read_strings(RowStrings& strings, const u32* text, const OwnColumn& own, const RowGroup& group,
                        Cursor (&cursors)[per_lane], const Round& round) {
    const u32 number = own.column.string;
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        const u32 n = field_length(text, cursors[i], own, round.returns);
        const u32 until = tile::scan_warp<Sum<u32>>(n);
        const u32 part = tile::warp() * per_lane + i;
        strings.places[number][part * tile::lanes + tile::lane()] = cursors[i].at | until << 16;
        if (tile::lane() == tile::lanes - 1) strings.added[round.number % 2][number][part] = until;
        const bool null = n == 0 && cursors[i].live && (own.column.flags & ROW_EMPTY_IS_NULL);
        const u32 nulls = __ballot_sync(tile::all_lanes, null);
        if (nulls != 0) clear_bits(own.column.validity, group.first + i * tile::lanes, nulls);
        if (cursors[i].live) cursors[i].at += n + 1;
    }
}

HR_FN void put_offset(const RowColumn& column, u64 row, u64 value) {
    if (column.flags & ROW_LONG_OFFSETS) {
        reinterpret_cast<u64*>(column.more)[row] = value;
    } else {
        reinterpret_cast<u32*>(column.more)[row] = static_cast<u32>(value);
    }
}

// Stores bytes [skew, size) of a stream, whose word 0 goes to `to`, a multiple of 4.
HR_FN void put_stream(const u8* stream, u8* to, u32 skew, u32 size) {
    for (u32 at = 4 * tile::lane(); at < size; at += 4 * tile::lanes) {
        if (at >= skew && at + 4 <= size) {
            *reinterpret_cast<u32*>(to + at) = *reinterpret_cast<const u32*>(stream + at);
        } else {
            for (u32 i = at; i < at + 4 && i < size; ++i) {
                if (i >= skew) to[i] = stream[i];
            }
        }
    }
}

// Copies each lane's n bytes from `begin`, the warp's one behind the other, to `to`.
HR_FN void copy_strings(const u8* text, u8* stream, u8* to, u32 begin, u32 n, u32 before, u32 total) {
    if (total <= stream_bytes - 4) {
        const u32 skew = static_cast<u32>(reinterpret_cast<u64>(to) % 4);
        u8* const own = stream + skew + before;
        for (u32 i = 0; i < n; ++i) own[i] = text[begin + i];
        __syncwarp();
        put_stream(stream, to - skew, skew, skew + total);
        __syncwarp();
        return;
    }
    for (u32 owner = 0; owner < tile::lanes; ++owner) {
        const u8* const from = text + tile::shuffle(begin, owner);
        u8* const own = to + tile::shuffle(before, owner);
        const u32 size = tile::shuffle(n, owner);
        for (u32 i = tile::lane(); i < size; i += tile::lanes) own[i] = from[i];
    }
}

// Stores a warp's strings of one column; behind the barrier that all warps' sizes wait for. `before`: bytes of the first
// row's that other tiles own.
HR_FN void put_strings(RowMemory& memory, const RowColumn& column, const RowGroup& group, u32 rows, const Round& round,
                       u32 before) {
    RowStrings& strings = strings_behind(memory);
    const u32 number = column.string, warp = tile::warp();
    u64 base = strings.bases[warp][number] - before;
    u64 next = base;
    const u32(&added)[warps * per_lane] = strings.added[round.number % 2][number];
#pragma unroll
    for (u32 i = 0; i < warps * per_lane; ++i) {
        if (i < warp * per_lane) base += added[i];
        next += added[i];
    }
    __syncwarp();
    if (tile::lane() == 0) strings.bases[warp][number] = next;
#pragma unroll 1
    for (u32 i = 0; i < per_lane && i * tile::lanes < rows; ++i) {
        const u32 place = strings.places[number][(warp * per_lane + i) * tile::lanes + tile::lane()];
        const u32 until = place >> 16;
        const u32 until_lane = tile::shuffle_up(until, 1);
        const u32 own_before = tile::lane() == 0 ? 0 : until_lane;
        const u64 row = group.row + i * tile::lanes;
        if (i * tile::lanes + tile::lane() < rows) {
            put_offset(column, row + 1, base + until);
            if (row == 0) put_offset(column, 0, 0);
        }
        const u32 total = tile::shuffle(until, tile::lanes - 1);
        copy_strings(staged_bytes_of(memory), strings.streams[warp], column.values + base, place & 0xFFFF,
                     until - own_before, own_before, total);
        base += total;
    }
}

}  // namespace headrace
