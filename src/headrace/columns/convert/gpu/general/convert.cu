// Converts text in device memory to typed columns: the general path, for any dialect and type. It is the second pass
// over the text, after the structure search, which provides the state at the begin of each tile
// (structure/gpu/tile_start.hpp).
//
// A block takes a tile. It stages the text in shared memory and finds the tile's fields there (tile_fields.cuh). Then
// its warps take units of one column and 32 rows: all lanes of a warp convert the same type, and neighbouring lanes
// store neighbouring values. No index of fields is written to device memory. This saves the tagging and sorting passes
// of Stehle and Jacobsen, "ParPaRaw", VLDB 2020.
//
// Bytes moved: the text once, the result once.
#include "columns/convert/gpu/fast/row_task.hpp"
#include "columns/convert/gpu/general/left_fields.cuh"
#include "columns/convert/gpu/general/tile_string_lanes.cuh"
#include "columns/convert/gpu/size_estimate.hpp"

using namespace headrace;

constexpr u32 groups_per_unit = 4;

// The rows of a window in groups of 32. `slot`: the slot of column 0 in this lane's row of the first group. It is
// negative for rows before the tile's first, so columns are fewer than 2^26.
struct Deal {
    RowSpan rows;
    u64 first;
    u32 groups;
    i32 slot;
};

HR_FN Deal deal_of(const ConvertMemory& memory, u32 width) {
    const ConvertTile& tile = memory.tile;
    Deal deal{};
    deal.rows = rows_of(tile, memory.window, width);
    deal.first = deal.rows.first / 32 * 32;
    deal.groups = deal.rows.end > deal.rows.first ? static_cast<u32>((deal.rows.end - deal.first + 31) / 32) : 0;
    const i32 record = static_cast<i32>(static_cast<i64>(deal.first - tile.entry.record) + tile::lane());
    deal.slot = record * static_cast<i32>(width) - static_cast<i32>(tile.entry.column + memory.window.first);
    return deal;
}

constexpr bool has_strings = has_family(ConvertFamily::text);

// Returns whether strings of a window's rows are measured first and copied after a barrier.
HR_FN bool measures_first(const ConvertMemory& memory, const ConvertTask& task, const RowSpan& rows) {
    return memory.tile.regular && task.strings <= max_measured_columns && !lanes_copy(memory, task, rows);
}

// Counts the bytes of strings of a regular tile's window. A unit has one column and up to 4 groups of 32 rows.
HR_FN void measure_window(ConvertMemory& memory, const u8* text, const ConvertTask& task, const ConvertColumn* columns,
                          const Deal& deal, u64* string_bytes, u32 unit) {
    constexpr u32 unit_rows = 32 * groups_per_unit;
    const u32 parts = max((deal.groups + groups_per_unit - 1) / groups_per_unit, 1u);
    for (; unit < task.strings * parts; unit = next_unit(memory.next_unit)) {
        const u32 part = unit % parts;
        const ConvertColumn& own = columns[unit / parts];
        if ((own.flags & CONVERT_INFERRED) && !has_type(own.guess)) continue;
        const u64 first = deal.first + part * unit_rows;
        const RowSpan rows{first, min(deal.rows.end, first + unit_rows)};
        const i32 slot = deal.slot + static_cast<i32>(part * unit_rows * task.width);
        u32 added = measure_column<false>(memory, text, task, rows, slot, own);
        if (part + 1 == parts) added += convert_unfinished<false>(memory, task, own, 0);
        if (tile::lane() == 0 && added != 0) atomicAdd(&string_bytes[unit / parts], u64{added});
    }
}

// Takes the units of strings of a window from `unit` on. A unit has one column, or those of its lanes. Returns the
// first unit that is none of these.
template <bool writes>
HR_FN u32 convert_string_units(ConvertMemory& memory, const u8* text, const ConvertTask& task,
                               const ConvertColumn* columns, const Deal& deal, u64* string_bytes, u32 unit) {
    const bool measured = writes && measures_first(memory, task, deal.rows);
    if (writes && lanes_copy(memory, task, deal.rows)) {
        return convert_string_lanes<LaneWork::copy>(memory, text, task, columns, deal.rows, string_bytes, unit);
    }
    if (measured && has_string_lanes(memory, task)) {
        return convert_string_lanes<LaneWork::place>(memory, text, task, columns, deal.rows, string_bytes, unit);
    }
    for (; unit < task.strings; unit = next_unit(memory.next_unit)) {
        const u64 base = string_bytes[unit];
        const ConvertColumn& own = columns[unit];
        const bool classifies = (own.flags & CONVERT_INFERRED) && !has_type(own.guess);
        if (memory.tile.only_kinds && !classifies) continue;
        if (measured && !classifies) {
            const u32 added = measure_column<true>(memory, text, task, deal.rows, deal.slot, own);
            const u32 more = convert_unfinished<true>(memory, task, own, base + added);
            if (tile::lane() == 0) memory.sized[unit] = added;
            if (more != 0) keep_unfinished(memory, unit, more);
            continue;
        }
        const u32 added = convert_strings<writes>(memory, text, task, memory.tile, memory.window, deal.rows, own, base);
        __syncwarp();  // all lanes have read string_bytes[unit]
        if (tile::lane() == 0 && measured) memory.sized[unit] = 0;
        if (tile::lane() == 0) string_bytes[unit] = base + added;
    }
    return unit;
}

// Converts all units of a window, except the copying of measured strings: first units of strings, then those of the
// other columns. `string_bytes`: for each column of strings the offset of its next byte.
template <bool writes>
HR_FN void convert_window(ConvertMemory& memory, const u8* text, const ConvertTask& task, const ConvertColumn* columns,
                          u64* string_bytes) {
    const ConvertTile& tile = memory.tile;
    const FieldWindow& window = memory.window;
    const Deal deal = deal_of(memory, task.width);
    u32 unit = next_unit(memory.next_unit), before = 0;
    if constexpr (!writes) {
        if (has_string_lanes(memory, task)) {
            convert_string_lanes<LaneWork::measure>(memory, text, task, columns, deal.rows, string_bytes, unit);
        } else if (measures_first(memory, task, deal.rows)) {
            measure_window(memory, text, task, columns, deal, string_bytes, unit);
        } else {
            convert_string_units<false>(memory, text, task, columns, deal, string_bytes, unit);
        }
        return;
    }
    if constexpr (has_strings) {
        const bool copies = lanes_copy(memory, task, deal.rows);
        const bool in_lanes = copies || (has_string_lanes(memory, task) && measures_first(memory, task, deal.rows));
        before = in_lanes ? count_units(string_lane_units(task, copies), task) : task.strings;
        unit = convert_string_units<true>(memory, text, task, columns, deal, string_bytes, unit);
    }
    if (deal.groups == 0 || tile.only_kinds) return;
    const u32 others = task.columns - task.strings;
    if (has_lanes && tile.regular && deal.rows.end - deal.rows.first < span * few_rows && others >= lane_columns) {
        return convert_lanes(memory, text, task, columns, deal.rows, before, unit - before);
    }
    const u32 parts = (deal.groups + groups_per_unit - 1) / groups_per_unit;
    u32 column = task.strings, part = unit - before, last = unit;
    while (true) {
        for (; part >= parts && column < task.columns; part -= parts) ++column;
        if (column >= task.columns) return;
        const u32 group = part * groups_per_unit;
        const ConvertColumn& own = columns[column];
        const i32 slot = deal.slot + static_cast<i32>(group * 32 * task.width + own.position);
        const u64 row = deal.first + group * 32 + tile::lane();
        convert_unit(memory, text, task, tile, window, own,
                     {column, row, slot, min(deal.groups - group, groups_per_unit)});
        unit = next_unit(memory.next_unit);
        part += unit - last;
        last = unit;
    }
}

// Copies the measured strings, then the long pieces of all strings. Call after a barrier.
HR_FN void copy_window(ConvertMemory& memory, const ConvertTask& task, const ConvertColumn* columns,
                       u64* string_bytes) {
    const Deal deal = deal_of(memory, task.width);
    if (measures_first(memory, task, deal.rows)) {
        u32 number = 0;
        for (u32 group = tile::warp(); deal.groups != 0; group += threads / tile::lanes) {
            for (; group >= deal.groups; group -= deal.groups) ++number;
            if (number >= task.strings) break;
            const ConvertColumn& own = columns[number];
            if ((own.flags & CONVERT_INFERRED) && !has_type(own.guess)) continue;
            const i32 slot = deal.slot + static_cast<i32>(group * 32 * task.width + own.position);
            const u64 row = deal.first + group * 32 + tile::lane();
            copy_strings(memory, task, row, slot, number, own, string_bytes[number]);
        }
        __syncthreads();
        for (u32 i = threadIdx.x; i < task.strings; i += threads) {
            string_bytes[i] += memory.sized[i] + (i == memory.open_number ? memory.open_bytes : 0);
        }
    }
    copy_long_pieces(memory);
}

HR_FN ConvertTile tile_of(const TileStart* entries, const u8* text, const ConvertTask& task, u32 number) {
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const TileExtent extent = extent_of(number, tile_bytes, halo_bytes, skew, task.size);
    ConvertTile tile{};
    tile.number = number;
    tile.last = (number + 1) * span >= task.tiles;
    tile.entry = entries[number * span];
    tile.next = entries[tile.last ? task.tiles : (number + 1) * span];
    tile.origin = extent.origin;
    tile.begin = extent.begin;
    tile.end = extent.end;
    const bool open = is_open(task, tile.next);
    tile.last_end = tile.last && open;
    tile.open_field = open && !tile.last_end;
    const u32 state = tile.next.state;
    const bool quoted = by_dfa ? is_in(task.dfa, StepSet::quoted, state) : state != 0;
    tile.unclosed = tile.last_end && quoted ? tile.next.record : no_record;
    return tile;
}

// Reports malformed and unclosed quotes of the tile.
HR_COLD void report_quotes(const ConvertMemory& memory, const ConvertTask& task, const ThreadMasks& own) {
    report_malformed_quotes(memory, task, own);
    const ConvertTile& tile = memory.tile;
    if (threadIdx.x != 0 || !tile.last_end) return;
    const u64 begin = tile.next.record_begin;
    if (by_dfa && is_in(task.dfa, StepSet::unfinished, tile.next.state)) {
        const u32 kind = static_cast<u32>(Fault::quote);
        report(memory, task, {tile.next.record, begin, begin, 0, task.size, NO_FIELD, kind});
    }
    if (tile.unclosed == no_record) return;
    const u32 kind = static_cast<u32>(Fault::unclosed_quote);
    report(memory, task, {tile.next.record, begin, begin, task.size, tile.next.field_begin, NO_FIELD, kind});
}

// Moves on to the next window.
HR_FN void advance(ConvertMemory& memory) {
    FieldWindow& window = memory.window;
    const ConvertTile& tile = memory.tile;
    if (!tile.regular) {
        const u32 after_last_record = window.records == 0 ? 0 : memory.last_fields[window.records - 1] + 1;
        window.column = (window.records == 0 ? window.column : 0) + window.count - after_last_record;
        window.records_before += window.records;
    }
    window.first += window.count;
    window.count = min(tile.fields - window.first, window_fields);
    memory.next_unit = 0;
    memory.open_number = no_field;
    memory.long_pieces = 0;
    memory.left_count = 0;
}

// Stages the tile and leaves its masks in shared memory. Returns the number of the tile's fields that end before this
// thread's words.
template <bool writes>
HR_FN u32 find_fields(ConvertMemory& memory, const u8* text, const ConvertTask& task, const TileStart* entries,
                      u32 number, u32 mark) {
    ConvertTile tile = tile_of(entries, text, task, number);
    tile.only_kinds = (mark & ROW_MARK_WANTED) == ROW_MARK_KINDS;
    tile.untouched = mark == 0;
    ThreadMasks own;
    stage_tile(memory, text, task, tile);
    resolve_tile(memory, text, task, tile, own);
    if constexpr (by_dfa) decode_sequences(memory, text, task, tile, own.first);
    if (threadIdx.x == 0) {
        memory.tile = tile;
        memory.window = {0, min(tile.fields, window_fields), 0, 0, tile.entry.column};
        memory.next_unit = 0;
        memory.open_number = no_field;
        memory.long_pieces = 0;
        memory.left_count = 0;
    }
    __syncthreads();
    if (writes && may_quote && !(task.record_flags & RECORDS_KNOWN)) {
        const ThreadMasks masks = own;
        report_quotes(memory, task, masks);
    }
    return own.ends_before;
}

template <bool writes>
HR_FN void convert_tile(ConvertMemory& memory, const u8* text, const ConvertTask& task, const TileStart* entries,
                        const ConvertColumn* columns, u64* string_bytes, u32 number, u32 mark) {
    const u32 ends_before = find_fields<writes>(memory, text, task, entries, number, mark);
    while (true) {
        list_window(memory, task, ends_before);
        if (writes && !memory.tile.regular && !(task.record_flags & RECORDS_KNOWN))
            report_records(memory, task, (mark & ROW_MARK_COUNTED) == 0);
        convert_window<writes>(memory, text, task, columns, string_bytes);
        __syncthreads();
        if (writes && memory.left_count != 0) convert_left(memory, text, task, columns);
        if (writes && has_strings && task.strings != 0 && !memory.tile.only_kinds) {
            copy_window(memory, task, columns, string_bytes);
        }
        if (memory.window.first + memory.window.count == memory.tile.fields) return;
        __syncthreads();
        if (threadIdx.x == 0) advance(memory);
        __syncthreads();
    }
}

// Returns the tiles that this block converts, as a bit mask. If `marks` is null, each block has one tile. Otherwise a
// block has `tiles_per_block` tiles, up to 32, and converts those that the fast path declined (ROW_MARK_WANTED), or all
// of them. Usually none is declined, so few blocks keep that case cheap.
HR_FN u32 wanted_tiles(const ConvertTask& task, const u32* marks, u32 tiles_per_block, bool all) {
    if (marks == nullptr) return 1;
    const u64 own = u64{blockIdx.x} * tiles_per_block + tile::lane();
    return __ballot_sync(tile::all_lanes, tile::lane() < tiles_per_block && own < task.tiles &&
                                              (all || (marks[own] & ROW_MARK_WANTED) != 0));
}

template <bool writes>
HR_FN void convert_wanted(ConvertMemory& memory, const u8* text, const ConvertTask& task, const TileStart* entries,
                          const ConvertColumn* columns, u64* string_bytes, u32 sums_span, u32 wanted,
                          u32 tiles_per_block, const u32* marks) {
    for (; wanted != 0; wanted &= wanted - 1) {
        const u32 number = blockIdx.x * tiles_per_block + static_cast<u32>(__ffs(static_cast<int>(wanted))) - 1;
        u64* const own = string_bytes + u64{number} * sums_span * task.strings;
        if constexpr (!writes) {
            for (u32 i = threadIdx.x; i < task.strings; i += threads)
                own[i] = 0;  // warps add to the word after a barrier
        }
        const u32 mark = writes && marks != nullptr ? marks[number] : 0;
        convert_tile<writes>(memory, text, task, entries, columns, own, number, mark);
        __syncthreads();  // the next tile is staged over this one
    }
}

#if HR_WRITES
// Writes the columns of declined tiles and the fields that the fast path has left, or the columns of all tiles.
// `string_begins`: sums of measure_strings, scanned over the tiles for each column; on return, each holds the next
// tile's value. `validated_rows`: null, or the row count that validate_estimate publishes. `sums_span`: rows of these
// sums that a tile has.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    convert_tiles(const u8* text, const TileStart* entries, const ConvertColumn* columns, u64* string_begins,
                  FieldFault* faults, ConvertTotals* totals, const u64* validated_rows, const u32* marks,
                  u32 tiles_per_block, u32 sums_span, const __grid_constant__ ConvertTask task) {
    HR_DYNAMIC_SHARED(ConvertMemory, memory);
    const u32 wanted = wanted_tiles(task, marks, tiles_per_block, false);
    const u64 left = marks != nullptr ? tile::load_relaxed(&totals->left) % LEFT_TILES : 0;
    const bool has_left = u64{blockIdx.x} * threads < left;
    if ((wanted == 0 && !has_left) || is_mispredicted(validated_rows)) return;
    if (threadIdx.x == 0) {
        memory->faults = faults;
        memory->totals_of_text = totals;
    }
    if (has_left) {
        __syncthreads();
        convert_left_fields(*memory, text, task, entries, columns, marks);
    }
    convert_wanted<true>(*memory, text, task, entries, columns, string_begins, sums_span, wanted, tiles_per_block,
                         marks);
}
#endif
#if !HR_WRITES && (HR_FAMILIES >> 11 & 1) != 0
// The fields of a text whose records all have `width` fields.
struct ListedFields {
    u16* ends;    // of each field, counted from its record's begin
    u64* begins;  // first byte of each record, and of the one that would follow
};

// Lists the fields of a window, a record a warp. `begin`: staged byte of the record that is open at the window's begin.
// Returns that of the next window. `longest`: of this thread's ends.
HR_FN i32 list_fields_of(const ConvertMemory& memory, const ConvertTask& task, const ListedFields& listed, i32 begin,
                         i32& longest) {
    const ConvertTile& tile = memory.tile;
    const u32 before = tile.entry.column + memory.window.first, count = memory.window.count, width = task.width;
    u16* const ends = listed.ends + tile.entry.record * width + before;
    u64* const begins = listed.begins + tile.entry.record;
    // Returns where the tile's k-th record begins. The field at `slot` of the window is its first one.
    const auto begin_of = [&](u32 k, i32 slot) { return k != 0 && slot >= 0 ? memory.places[slot] + 1 : begin; };
    const u32 last = (before + count) / width;
    for (u32 k = before / width + tile::warp(); k <= last; k += threads / tile::lanes) {
        const i32 first = static_cast<i32>(k * width - before), own = begin_of(k, first);
        const u32 next = static_cast<u32>(first) + width;
        for (u32 slot = static_cast<u32>(max(first, 0)) + tile::lane(); slot < min(next, count); slot += tile::lanes) {
            const i32 end = memory.places[slot + 1] - own;
            longest = max(longest, end);
            ends[slot] = static_cast<u16>(end);
        }
        if (next <= count && tile::lane() == 0) begins[k + 1] = tile_position(tile, memory.places[next] + 1u);
    }
    return begin_of(last, static_cast<i32>(last * width - before));
}

// Lists the fields of a text without quotes. Tiles with irregular records, invalid UTF-8, or records of 64 KB and more
// set `declined`, and so do texts with blank lines or carriage returns. `ends`, `begins`: ListedFields of `capacity`
// records.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    list_fields(const u8* text, const TileStart* entries, const FindTotals* totals, u16* ends, u64* begins,
                u32* declined, u64 capacity, const __grid_constant__ ConvertTask task) {
    HR_DYNAMIC_SHARED(ConvertMemory, memory);
    const u32 flags = tile::load_relaxed(&totals->flags);
    bool fits = (flags & (FIND_REDO | FIND_STRAY | FIND_UNCLOSED | FIND_RETURN)) == 0 && totals->blank_lines == 0 &&
                totals->records <= capacity;
    i32 longest = 0;
    if (fits) {
        const u32 ends_before = find_fields<false>(*memory, text, task, entries, blockIdx.x, 0);
        const ConvertTile& tile = memory->tile;
        const i64 open = static_cast<i64>(tile.entry.record_begin) - tile.origin;  // if it is far, the record is long
        i32 begin = static_cast<i32>(tile.entry.open ? max(open, i64{-0x10000}) : i64{tile.begin});
        if (tile.number == 0 && threadIdx.x == 0) begins[0] = tile_position(tile, tile.begin);
        while (true) {
            list_window(*memory, task, ends_before);
            fits &= tile.regular && !tile.has_errors;
            if (!fits) break;
            begin = list_fields_of(*memory, task, {ends, begins}, begin, longest);
            if (memory->window.first + memory->window.count == tile.fields) break;
            __syncthreads();
            if (threadIdx.x == 0) advance(*memory);
            __syncthreads();
        }
    }
    if (!fits || longest > 0xFFFF) *declined = 1;
}
#endif
#if !HR_WRITES && (HR_FAMILIES & 0x7FF) != 0

// Measures strings: sums[tile * strings + column] is the number of bytes that the tile copies for the column. `totals`:
// of the search variant that this program reads texts by; null if it is known to have read the text. If it has given
// up, nothing is measured, for its tiles have no begin in `entries`. If some quotes are malformed, this kernel measures
// all tiles, since a rejected record may reach into tiles that have no fault.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    measure_strings(const u8* text, const TileStart* entries, const ConvertColumn* columns, u64* sums,
                    const FindTotals* totals, const u32* marks, u32 tiles_per_block,
                    const __grid_constant__ ConvertTask task) {
    HR_DYNAMIC_SHARED(ConvertMemory, memory);
    const u32 flags = totals != nullptr ? tile::load_relaxed(&totals->flags) : 0;
    if ((flags & FIND_REDO) != 0) return;
    const u32 wanted = wanted_tiles(task, marks, tiles_per_block, (flags & (FIND_STRAY | FIND_UNCLOSED)) != 0);
    convert_wanted<false>(*memory, text, task, entries, columns, sums, 1, wanted, tiles_per_block, marks);
}
#endif
