// Finds the field of a column in a row, and its bytes.
#pragma once

#include "columns/convert/gpu/general/tile_faults.cuh"
#include "columns/convert/gpu/general/tile_values.cuh"

namespace headrace {

// A column's field in one row, as seen from this window.
struct RowField {
    bool mine;     // the field ends in this window
    bool missing;  // the record ends in this window without such a field
    bool sound;    // false: the record is rejected, so its fields are not converted
    u32 slot;      // index of the field in the window
};

HR_FN RowField field_of_row(const ConvertMemory& memory, const ConvertTask& task, const ConvertTile& tile,
                            const FieldWindow& window, u32 column, u64 row) {
    const i64 record = static_cast<i64>(row - tile.entry.record);
    if (tile.regular) {
        const i64 slot = record * task.width + column - tile.entry.column - window.first;
        const bool mine = record >= 0 && slot >= 0 && slot < window.count;
        return {mine, false, row != tile.unclosed, static_cast<u32>(slot)};
    }
    const i64 k = record - window.records_before;
    if (k < 0 || k > window.records) return {false, false, true, 0};
    const u32 number = static_cast<u32>(k);
    const i64 first = number == 0 ? -i64{window.column} : i64{memory.last_fields[number - 1]} + 1;
    const bool ended = number < window.records;
    const i64 last = ended ? memory.last_fields[number] : window.count - 1;
    const i64 slot = first + column;
    const i64 fields = last - first + 1;
    const bool few = fields < task.base && !(task.record_flags & RECORDS_FILL_SHORT);
    const bool many = fields > task.width && !(task.record_flags & (RECORDS_KEEP_LONG | RECORDS_COLLECT_LONG));
    const bool sound = !many && !(ended && few) && row != tile.unclosed;
    return {slot >= 0 && slot <= last, ended && slot > last, sound, static_cast<u32>(slot)};
}

// Returns the row of a window's field.
HR_FN u64 row_of_field(const ConvertMemory& memory, const ConvertTask& task, u32 slot) {
    const ConvertTile& tile = memory.tile;
    const FieldWindow& window = memory.window;
    if (tile.regular) return tile.entry.record + (tile.entry.column + window.first + slot) / task.width;
    const u32 bits = memory.record_bits[slot / 32] & low_mask(slot % 32);
    const u32 before = memory.records_before[slot / 32] + static_cast<u32>(__popc(bits));
    return tile.entry.record + window.records_before + before;
}

// Longer fields of fixed width are converted by the host.
constexpr i64 max_read_bytes = 4096;

// Staged bytes [begin, end). `begin` is negative if the field began before the staged head.
struct FieldPlace {
    i64 begin;
    u32 end;
};

HR_FN FieldPlace place_of(const ConvertMemory& memory, const ConvertTask& task, const ConvertTile& tile,
                          const FieldWindow& window, u32 column, u32 slot) {
    const u32 place = memory.places[slot + 1], end = end_of_field(memory, task, place);
    if (window.first == 0 && slot == 0) {
        if (by_dfa && column == 0) {
            const u32 begin = last_start(memory, place, 0);
            if (begin != 0) return {begin, end};
        }
        if (tile.entry.open) return {static_cast<i64>(tile.entry.field_begin) - tile.origin, end};
        return {skip_line_ends(memory, task.dialect, tile, tile.begin), end};
    }
    u32 begin = memory.places[slot] + 1u;
    if (column == 0) begin = record_start(memory, task.dialect, tile, begin, place);
    return {begin, end};
}

// Returns the number of dropped bytes among staged bytes [0, at).
HR_FN u32 dropped_until(const ConvertMemory& memory, u32 at) {
    if constexpr (!may_quote) return 0;
    return bits_until(memory.dropped, memory.dropped_before, at);
}

HR_FN FieldText text_of(const ConvertMemory& memory, const u8* text, const ConvertTask& task, const FieldPlace& place,
                        bool raw) {
    const ConvertTile& tile = memory.tile;
    const bool staged = place.begin >= 0;
    const u8* const p = staged ? staged_text(memory) + place.begin : text + (tile.origin + place.begin);
    const usize n = static_cast<usize>(place.end - place.begin);
    if constexpr (!may_quote) return {p, n, false, false, 0};
    if (raw) return {p, n, false, false, 0};
    FieldText field{p, n, false, by_dfa, 0};
    if constexpr (by_dfa) {
        while (task.dfa.dialect.strip && field.n != 0 && field.p[field.n - 1] == ' ') {
            --field.n;
            ++field.after;
        }
        while (task.dfa.dialect.trims_fields() && field.n != 0 && *field.p == ' ') {
            ++field.p;
            --field.n;
        }
    }
    const u32 end = static_cast<u32>(place.end - field.after),
              begin = end - static_cast<u32>(field.n);  // if it is staged
    if ((task.dialect.flags & PLAIN_QUOTES) && field.n >= 2 && *field.p == task.dialect.quote) {
        const bool lenient = by_dfa && task.dfa.dialect.looks_ahead();
        field.quoted = !lenient || (staged ? (memory.dropped[begin / 32] >> (begin % 32) & 1) != 0
                                           : is_enclosed(enclosing_marks_of(task), field.p, field.n));
    }
    if (field.quoted) {
        ++field.p;
        field.n -= 2;
        ++field.after;
    }
    const u32 ends = field.quoted ? 1 : 0;
    field.doubled = (by_dfa || field.quoted) &&
                    (!staged || dropped_until(memory, end - ends) != dropped_until(memory, begin + ends));
    return field;
}

HR_FN FieldFault fault_at(const ConvertMemory& memory, const ConvertTask& task, const FieldPlace& place, u32 column,
                          u64 record) {
    const ConvertTile& tile = memory.tile;
    const u64 begin = static_cast<u64>(tile.origin + place.begin);
    const i32 inside = place.begin < 0 ? -1 : static_cast<i32>(place.begin);
    return {record, record_begin_of(memory, task.dialect, inside), begin, tile_position(tile, place.end), begin, column,
            0};
}

// The rows [first, end) with fields in a window.
struct RowSpan {
    u64 first, end;
};

HR_FN RowSpan rows_of(const ConvertTile& tile, const FieldWindow& window, u32 width) {
    if (!tile.regular) {
        const u64 first = tile.entry.record + window.records_before;
        return {first, first + window.records + 1};
    }
    if (window.count == 0) return {tile.entry.record, tile.entry.record};
    if (window.count == tile.fields) {
        // Without divisions: the complete records, and one more if some of its fields are in the tile.
        const u32 more = tile.entry.column + tile.fields != tile.records * width ? 1 : 0;
        return {tile.entry.record, tile.entry.record + tile.records + more};
    }
    const u32 first = tile.entry.column + window.first;
    return {tile.entry.record + first / width, tile.entry.record + (first + window.count - 1) / width + 1};
}

// Stores the validity of a warp's 32 rows, of which this tile has those in `mine`. A word that other tiles share is
// updated atomically. All bits are set before the launch.
HR_FN void put_validity(u32* words, u64 row, u32 mine, u32 present) {
    if (tile::lane() != 0) return;
    if (mine == ~0u) {
        words[row / 32] = present;
    } else {
        // Bits are set as well as cleared, since the fast path may have cleared some before it declined the tile.
        if (present != 0) atomicOr(&words[row / 32], present);
        if ((mine & ~present) != 0) atomicAnd(&words[row / 32], ~(mine & ~present));
    }
}

}  // namespace headrace
