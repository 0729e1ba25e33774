// Copies the strings of a regular tile in two steps, so that no warp works on a column alone. First one warp per column
// computes the target of each field; of many columns, a lane does (tile_string_lanes.cuh). Then units of one column and
// 32 rows copy the bytes. Strings of up to eight bytes are copied by a lane each. Otherwise the bytes of a unit form a
// stream. Each lane takes the next four and stores them as one word of the result. A lane whose four bytes belong to
// several fields copies them one by one.
#pragma once

#include "columns/convert/gpu/general/tile_strings.cuh"

namespace headrace {

// A lane's string in staged text, without enclosing quotes if nothing between them is dropped.
struct StringField {
    u32 begin, size;
    bool far;  // the field began before the staged head
    bool quoted;
    bool doubled;  // quotes are to be dropped, inside the string and around it
};

// Members of ConvertColumn that a loop over strings keeps in registers: lanes may have columns of their own.
struct StringColumn {
    u8* values;
    u8* offsets;
    u32* validity;
    u64 null_sizes;  // WordTable::null_sizes, if texts other than the empty one mean null
    u8 flags;
    bool first;  // the first column of the record
    bool has_long_offsets;
};

HR_FN StringColumn string_column(const ConvertColumn& column) {
    const u64 null_sizes = column.flags & CONVERT_NULL_WORDS ? column.rules->words.null_sizes : 0;
    return {column.values, column.offsets,       column.validity,  null_sizes,
            column.flags,  column.position == 0, column.width == 8};
}

HR_FN StringField string_at(const ConvertMemory& memory, const ConvertTask& task, const StringColumn& column,
                            i32 slot) {
    u32 begin = memory.places[slot] + 1u;
    const u32 place = memory.places[slot + 1];
    u32 end = end_of_field(memory, task, place);
    if (by_dfa && column.first) begin = last_start(memory, place, begin);
    if (begin > end) return {0, end, true, false, may_quote && kept_bytes(memory, 0, end, false) != end};
    if (column.first) begin = skip_line_ends(memory, task.dialect, memory.tile, begin);
    StringField field{begin, end - begin, false, false, false};
    if constexpr (may_quote) {
        const bool reads = (by_dfa || (task.dialect.flags & PLAIN_QUOTES)) && !(column.flags & CONVERT_RAW);
        if (reads && by_dfa) {
            field.begin = task.dfa.dialect.text_begin(staged_text(memory), field.begin, end);
            end = task.dfa.dialect.text_end(staged_text(memory), field.begin, end);
        }
        begin = field.begin;
        field.size = end - begin;
        if (reads && field.size >= 2 && is_opening(memory, task, begin)) {
            field.quoted = true;
            field.doubled = kept_bytes(memory, begin, end, false) + 2 != field.size;
            if (!field.doubled) {
                ++field.begin;
                field.size -= 2;
            }
        } else if (reads) {
            field.doubled = kept_bytes(memory, begin, end, false) != field.size;
        }
    }
    return field;
}

// A field's string, and the number of bytes of its value. `present`: it is no null.
struct FieldString {
    StringField field;
    u32 size;
    bool present;
};

// Returns the string of a field of a regular tile. `own`: string_column(column). `reports`: its faults are reported.
HR_FN FieldString string_of(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                            const ConvertColumn& column, const StringColumn& own, i32 slot, u64 row, bool reports) {
    const u32 flags = own.flags;
    const StringField field = string_at(memory, task, own, slot);
    const u32 size = field.doubled ? kept_bytes(memory, field.begin, field.begin + field.size, false) : field.size;
    bool present = size != 0 || field.quoted || field.far || !(flags & CONVERT_EMPTY_IS_NULL);
    if (field.far && row == memory.tile.unclosed) present = false;
    const auto is_null_size = [&](u32 bytes) { return (own.null_sizes >> min(bytes, 63u) & 1) != 0; };
    const bool looks = memory.tile.has_errors || is_null_size(field.size) || (field.doubled && is_null_size(size));
    if (present && (looks || field.far || (field.quoted && (flags & CONVERT_QUOTED_NULL)))) {
        const FieldPlace place =
            place_of(memory, task, memory.tile, memory.window, column.position, static_cast<u32>(slot));
        present = is_string_value(memory, text, task, column, place, row, reports);
    }
    return {field, present ? size : 0, present};
}

// First step: computes targets and validity of rows. Returns the number of their bytes. `first_slot`: of this lane's
// first row. If `writes` is false, the bytes are counted only.
template <bool writes>
HR_FN u32 measure_column(ConvertMemory& memory, const u8* text, const ConvertTask& task, const RowSpan& rows,
                         i32 first_slot, const ConvertColumn& column) {
    const u32 count = memory.window.count;
    const StringColumn own = string_column(column);
    const i32 step = static_cast<i32>(32 * task.width);
    i32 slot = first_slot + static_cast<i32>(column.position);
    u32 done = 0;
    for (u64 row = rows.first / 32 * 32 + tile::lane(); row - tile::lane() < rows.end;
         row += tile::lanes, slot += step) {
        const bool mine = static_cast<u32>(slot) < count;
        bool present = false;
        u32 size = 0;
        if (mine) {
            const FieldString found = string_of(memory, text, task, column, own, slot, row, writes);
            present = found.present;
            size = found.size;
        }
        if constexpr (writes) {
            const u32 until = tile::scan_warp<Sum<u32>>(size);
            if (mine) memory.targets[slot] = static_cast<u16>(done + until - size);
            put_validity(column.validity, row, __ballot_sync(tile::all_lanes, mine),
                         __ballot_sync(tile::all_lanes, present));
            done += tile::shuffle(until, tile::lanes - 1);
        } else {
            done += size;
        }
    }
    return writes ? done : __reduce_add_sync(tile::all_lanes, done);
}

// Copies each lane's staged bytes [begin, begin + size) to `to`, one lane's after the other's.
HR_FN void copy_stream(ConvertMemory& memory, u8* to, u32 begin, u32 size) {
    u32(&until)[tile::lanes] = memory.streams[tile::warp()][0];
    u32(&shift)[tile::lanes] = memory.streams[tile::warp()][1];
    const u32 mine = tile::scan_warp<Sum<u32>>(size);
    const u32 total = tile::shuffle(mine, tile::lanes - 1);
    __syncwarp();
    until[tile::lane()] = mine;
    shift[tile::lane()] = begin - (mine - size);
    __syncwarp();
    const u8* const text = staged_text(memory);
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(to) & 3);
    for (u32 first = 4 * tile::lane(); first < total + skew; first += 4 * tile::lanes) {
        const u32 from = first < skew ? 0 : first - skew;
        const u32 stop = min(first + 4 - skew, total);
        u32 owner = 0;
#pragma unroll
        for (u32 step = tile::lanes / 2; step != 0; step /= 2) {
            if (until[owner + step - 1] <= from) owner += step;
        }
        if (stop - from == 4 && until[owner] >= stop) {
            u32 word[1];
            load_before(reinterpret_cast<const u32*>(memory.text), stop + shift[owner], word);
            *reinterpret_cast<u32*>(to + from) = word[0];
            continue;
        }
        for (u32 at = from; at < stop; ++at) {
            while (until[owner] <= at) ++owner;
            to[at] = text[at + shift[owner]];
        }
    }
}

// Keeps the number of bytes of the unfinished field, which the first step has copied. `number`: of its column.
HR_FN void keep_unfinished(ConvertMemory& memory, u32 number, u32 size) {
    if (tile::lane() != 0) return;
    memory.open_number = number;
    memory.open_bytes = size;
}

constexpr u32 lane_bytes = 8;  // Bytes of the longest string of 32 up to which a lane copies each.

// Second step: copies the strings of one column and 32 rows, and stores their offsets. `row`, `slot`: this lane's.
// `number`: of the column.
HR_FN void copy_strings(ConvertMemory& memory, const ConvertTask& task, u64 row, i32 slot, u32 number,
                        const ConvertColumn& column, u64 base) {
    const u32 count = memory.window.count, next = static_cast<u32>(slot) + task.width;
    const bool mine = static_cast<u32>(slot) < count;
    u32 target = no_target, end = target;
    if (mine) {
        target = memory.targets[slot];
        end = next < count ? memory.targets[next] : memory.sized[number];
        put_offset(column, row + 1, base + end);
    }
    StringField field{halo_bytes, 0, false, false, false};
    if (target != end) field = string_at(memory, task, string_column(column), slot);
    const bool raw = !field.doubled;
    u8* const to = column.values + base;
    const u32 size = leave_to_block(memory, to, field.begin, field.size, target, raw);
    const u32 largest = __reduce_max_sync(tile::all_lanes, size);
    if (largest == 0) return;
    const bool simple = __all_sync(tile::all_lanes, raw && size == field.size);
    if (simple && largest > lane_bytes) {
        const u32 first = __reduce_min_sync(tile::all_lanes, target);
        copy_stream(memory, to + first, field.begin, size);
    } else if (__all_sync(tile::all_lanes, raw)) {
        const u8* const text = staged_text(memory) + field.begin;
        for (u32 i = 0; i < largest; ++i) {
            if (i < size) to[target + i] = text[i];
        }
    } else {
        copy_pieces(memory, to, field.begin, size, target, false);
    }
}

}  // namespace headrace
