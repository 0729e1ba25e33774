// Which field of a tile is a column's in a row, and where its bytes are.
#pragma once

#include "columns/tile_faults.cuh"
#include "columns/tile_values.cuh"

namespace headrace {

// A column's field in one row, as far as this window has a say in it.
struct RowField {
    bool mine;     // the field ends here
    bool missing;  // the record ends here, and has no such field
    bool sound;    // false: the record has to go, so what its fields hold is nobody's business
    u32 slot;      // of the field in the window
};

HR_FN RowField field_of_row(const TileMemory& memory, const ConvertTask& task, const Tile& tile, const Window& window,
                            u32 column, u64 row) {
    const i64 record = static_cast<i64>(row - tile.entry.record);
    if (tile.regular) {
        const i64 slot = record * task.width + column - tile.entry.column - window.first;
        const bool mine = record >= 0 && slot >= 0 && slot < window.count;
        return {mine, false, row != tile.unclosed, static_cast<u32>(slot)};
    }
    const i64 k = record - window.records_before;
    if (k < 0 || k > window.records) return {false, false, true, 0};
    const u32 number = static_cast<u32>(k);
    const i64 first = number == 0 ? -i64{window.column} : i64{last_field_of(memory, number - 1)} + 1;
    const bool ended = number < window.records;
    const i64 last = ended ? last_field_of(memory, number) : window.count - 1;
    const i64 slot = first + column;
    const i64 fields = last - first + 1;
    const bool few = fields < task.base && !(task.rows & ROWS_FILL_SHORT);
    const bool many = fields > task.width && !(task.rows & (ROWS_KEEP_LONG | ROWS_COLLECT_LONG));
    const bool sound = !many && !(ended && few) && row != tile.unclosed;
    return {slot >= 0 && slot <= last, ended && slot > last, sound, static_cast<u32>(slot)};
}

// A field of fixed width that is longer is read by the host.
constexpr i64 longest_read = 4096;

// Staged bytes from `begin` to `end`; a field that began before the staged head begins below 0.
struct FieldPlace {
    i64 begin;
    u32 end;
};

HR_FN FieldPlace place_of(const TileMemory& memory, const ConvertTask& task, const Tile& tile, const Window& window,
                          u32 column, u32 slot) {
    const u32 end = memory.places[slot + 1];
    if (window.first == 0 && slot == 0) {
        if (tile.entry.open) return {static_cast<i64>(tile.entry.field_begin) - tile.origin, end};
        return {skip_line_ends(memory, task.dialect, tile, tile.begin), end};
    }
    u32 begin = memory.places[slot] + 1u;
    if (column == 0) begin = skip_line_ends(memory, task.dialect, tile, begin);
    return {begin, end};
}

// Quotes that are left out of staged bytes [0, at).
HR_FN u32 dropped_until(const TileMemory& memory, u32 at) {
    if constexpr (!may_quote) return 0;
    return memory.dropped_before[at / 32] + static_cast<u32>(__popc(memory.dropped[at / 32] & low_mask(at % 32)));
}

HR_COLD bool has_byte(const u8* p, usize n, u8 byte) {
    for (usize i = 0; i < n; ++i) {
        if (p[i] == byte) return true;
    }
    return false;
}

HR_FN FieldText text_of(const TileMemory& memory, const u8* text, const ConvertTask& task, const FieldPlace& place,
                        bool raw) {
    const Tile& tile = memory.tile;
    const bool staged = place.begin >= 0;
    const u8* const p = staged ? staged_text(memory) + place.begin : text + (tile.origin + place.begin);
    const usize n = static_cast<usize>(place.end - place.begin);
    if constexpr (!may_quote) return {p, n, false, false};
    const u8 quote = task.dialect.quote;
    if (raw || !(task.dialect.flags & PLAIN_QUOTES) || n < 2 || *p != quote) return {p, n, false, false};
    const u32 begin = static_cast<u32>(place.begin);
    const bool doubled = staged ? dropped_until(memory, place.end - 1) != dropped_until(memory, begin + 1)
                                : has_byte(p + 1, n - 2, quote);
    return {p + 1, n - 2, true, doubled};
}

HR_FN FieldFault fault_at(const TileMemory& memory, const ConvertTask& task, const FieldPlace& place, u32 column,
                          u64 record) {
    const Tile& tile = memory.tile;
    const u64 begin = static_cast<u64>(tile.origin + place.begin);
    const i32 inside = place.begin < 0 ? -1 : static_cast<i32>(place.begin);
    return {record, record_begin_of(memory, task.dialect, inside), begin, tile_position(tile, place.end), begin, column,
            0};
}

// The rows that a window has fields of: [first, end).
struct RowSpan {
    u64 first, end;
};

HR_FN RowSpan rows_of(const Tile& tile, const Window& window, u32 width) {
    if (!tile.regular) {
        const u64 first = tile.entry.record + window.records_before;
        return {first, first + window.records + 1};
    }
    if (window.count == 0) return {tile.entry.record, tile.entry.record};
    if (window.count == tile.fields) {
        // No divisions: whole records, and one more if there are fields of it.
        const u32 more = tile.entry.column + tile.fields != tile.records * width ? 1 : 0;
        return {tile.entry.record, tile.entry.record + tile.records + more};
    }
    const u32 first = tile.entry.column + window.first;
    return {tile.entry.record + first / width, tile.entry.record + (first + window.count - 1) / width + 1};
}

// Sets the bits of a warp's 32 rows, `mine` of them, in the word that they share with other tiles where not all are.
HR_FN void put_bits(u32* words, u64 row, u32 mine, u32 bits) {
    if (tile::lane() != 0) return;
    if (mine == ~0u) {
        words[row / 32] = bits;
    } else if (bits != 0) {
        atomicOr(&words[row / 32], bits);
    }
}

}  // namespace headrace
