// Converts text in device memory to typed columns. This is the fast path, for texts whose records have all their fields
// and whose fields have the common shapes. A lane takes a record and reads its fields from left to right. So a warp
// reads one column of 32 rows at a time, its stores are adjacent, and no index of fields is made. This is the
// record-per-thread scheme of Kumaigorodski et al. 2021, "Fast CSV loading using GPUs and RDMA", BTW, applied to text
// in shared memory.
//
// In this kernel a tile owns the records that end in it, and its part of longer ones. A tile that does not qualify sets
// its `declined` mark, and that of the earlier tile in which its first record begins. Then convert.cu runs and converts
// every marked tile.
//
// Bytes moved: the text once, the result once.
#include "columns/convert/gpu/fast/fault_list.cuh"
#include "columns/convert/gpu/fast/row_sparse.cuh"
#include "columns/convert/gpu/fast/row_splits.cuh"
#include "columns/convert/gpu/fast/row_strings.cuh"
#include "columns/convert/gpu/size_estimate.hpp"

using namespace headrace;

// The list of fields that are left to the rules, the totals with their number, and a RowMark for each tile.
struct RowOutput {
    LeftField* left;
    u32 capacity;
    ConvertTotals* totals;
    u32* marks;
};

// Results of the search, and whether the DFA variant read the text.
struct RowsFound {
    u32 flags;
    bool is_read;  // false if the search has given up and no other one was launched: `entries` are not written
    bool blanks;   // the text has blank lines
    bool by_dfa;
};
HR_FN RowsFound rows_found(const FindTotals* totals, const RowTask& task) {
    u32 variant = 0, flags = totals[0].flags;
    while (variant < task.mask_variants && (flags & FIND_REDO) != 0) flags = totals[++variant].flags;
    return {flags, totals[variant].bytes != 0, totals[variant].blank_lines != 0, variant == task.mask_variants};
}

HR_FN RowTile row_tile_of(const TileStart* entries, const u8* text, const RowTask& task, const RowsFound& found) {
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const TileExtent extent = extent_of(blockIdx.x, tile_bytes, halo_bytes, skew, task.size);
    RowTile tile{};
    tile.entries = entries + blockIdx.x;
    tile.entry = entries[blockIdx.x];
    tile.next = entries[blockIdx.x + 1];
    tile.text = text;
    tile.origin = extent.origin;
    tile.begin = extent.begin;
    tile.end = extent.end;
    if constexpr (by_dfa) {  // a comment line is no open record
        tile.entry.open = tile.entry.open && !is_in(task.dfa, StepSet::comment, tile.entry.state);
        tile.next.open = tile.next.open && !is_in(task.dfa, StepSet::comment, tile.next.state);
    }
    tile.returns = !by_dfa && (task.dialect.flags & PLAIN_UNIVERSAL) && (found.by_dfa || (found.flags & FIND_RETURN));
    const bool splits = splits_records && task.strings != 0 && !found.by_dfa && !tile.returns;
    tile.far = splits && is_far(tile.entry, tile.origin);
    tile.far_after = splits && blockIdx.x + 1 != task.tiles && is_far(tile.next, tile.origin + tile_bytes);
    tile.first_chunk = first_chunk_of(tile);
    const u64 records = tile.next.record - tile.entry.record;
    tile.records = records <= max_records ? static_cast<u32>(records) : max_records + 1;
    if (ends_text(task, tile)) ++tile.records;
    tile.blanks = !by_dfa && found.blanks && !tile.returns;
    tile.line_end = task.dialect.line_end;
    const u32 state = tile.entry.state & 63;  // that of an entry that is not written is any number
    tile.inside = (found.by_dfa ? task.quoted_states >> state & 1 : state) != 0;
    tile.quotes = !may_quote && (task.flags & ROW_TASK_QUOTED) && (found.flags & FIND_QUOTES);
    tile.watches = found.by_dfa && (task.dialect.flags & PLAIN_WATCHES);
    tile.text_quotes = may_quote && !by_dfa && found.by_dfa;
    return tile;
}

// Stages the tile and lists its records. Returns false if the fast path must decline the tile.
HR_FN bool open_tile(RowMemory& memory, const u8* text, const RowTask& task, const RowTile& tile,
                     const RowsFound& found) {
    const u32 misread = by_dfa ? FIND_UNCLOSED : FIND_STRAY | FIND_UNCLOSED;
    if (!is_readable(task, tile) || (found.flags & misread)) return false;
    if (found.by_dfa && !(task.flags & ROW_TASK_DFA)) return false;
    if (by_dfa &&
        ends_text(task, tile)) {  // at the text's end an escape is text, and a separator that has begun a fault
        if (is_in(task.dfa, StepSet::escaped, tile.next.state)) return false;
        if (is_in(task.dfa, StepSet::unfinished, tile.next.state)) return false;
    }
    if (!stage_rows(memory, text, task, tile)) return false;
    return list_records(memory, task, tile);
}

#if HR_WRITES
// Reads the fields of a warp's records.
HR_FN void read_records(RowMemory& memory, const RowTask& task, const RowColumn* columns, const RowTile& tile,
                        const RowGroup& group, Cursor (&cursors)[per_lane], u64& targets) {
    for (u32 number = 0; number < task.columns; ++number) {
        const RowColumn column = load_column(columns, number);
        u32 part = no_part;
        if (splits_records && group.has_parts) part = split_column(memory, tile, column, number, group, cursors[0]);
        if constexpr (has_short) {
#pragma unroll
            for (u32 i = 0; i < per_lane; ++i) cursors[i].is_short |= is_missing(task, cursors[i]);
        }
        if (has_kind(RowKind::text) && column.kind == RowKind::text) {
            read_strings(memory, task, tile, column, group, cursors, targets, part);
            continue;
        }
        switch (column.kind) {
            case RowKind::int4:
                if constexpr (has_kind(RowKind::int4)) read_integers<u32>(memory, task, column, group, cursors);
                break;
            case RowKind::float4:
                if constexpr (has_kind(RowKind::float4)) read_reals<float>(memory, task, column, group, cursors);
                break;
            case RowKind::int1:
                if constexpr (has_kind(RowKind::int1)) read_integers<u8>(memory, task, column, group, cursors);
                break;
            case RowKind::int2:
                if constexpr (has_kind(RowKind::int2)) read_integers<u16>(memory, task, column, group, cursors);
                break;
            case RowKind::int8:
                if constexpr (has_kind(RowKind::int8)) read_integers<u64>(memory, task, column, group, cursors);
                break;
            case RowKind::float8:
                if constexpr (has_kind(RowKind::float8)) read_reals<double>(memory, task, column, group, cursors);
                break;
            case RowKind::date:
                if constexpr (has_kind(RowKind::date)) read_dates(memory, task, column, group, cursors);
                break;
            case RowKind::timestamp:
                if constexpr (has_kind(RowKind::timestamp)) read_timestamps(memory, task, column, group, cursors);
                break;
            case RowKind::time4:
                if constexpr (has_kind(RowKind::time4)) read_times<i32>(memory, task, column, group, cursors);
                break;
            case RowKind::time8:
                if constexpr (has_kind(RowKind::time8)) read_times<i64>(memory, task, column, group, cursors);
                break;
            case RowKind::duration:
                if constexpr (has_kind(RowKind::duration)) read_durations(memory, task, column, group, cursors);
                break;
            case RowKind::decimal:
                if constexpr (has_kind(RowKind::decimal)) read_decimals(memory, task, column, group, cursors);
                break;
            case RowKind::boolean:
                if constexpr (has_kind(RowKind::boolean)) read_booleans(memory, task, column, group, cursors);
                break;
            case RowKind::empty:
                if constexpr (has_kind(RowKind::empty)) read_empty(memory, task, tile, column, group, cursors);
                break;
            default:
#pragma unroll
                for (u32 i = 0; i < per_lane; ++i) {
                    skip_fields(memory, cursors[i], column.largest, has_short && (task.flags & ROW_TASK_FILLS));
                }
        }
    }
}

// Returns whether all records of a lane are complete: each ends with its last field.
HR_FN bool are_whole(const Cursor (&cursors)[per_lane], u32 record, u32 records, bool has_parts) {
    bool whole = !has_parts || record != records || cursors[0].at == cursors[0].end + 1;
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        const bool fine = cursors[i].live && cursors[i].at == cursors[i].end + 1;
        whole &= fine || record + i * tile::lanes >= records;
    }
    return whole;
}

// Lists the tile's malformed quotes as faults of their records, which end in the tile or are open after it. `tile` is
// passed by value: by reference, the kernel would keep it in local memory.
HR_COLD void report_malformed(const RowMemory& memory, RowTile tile, const FaultOutput& output) {
    if (output.knows_records != 0) return;
    for (u32 i = threadIdx.x; i < memory.malformed_count; i += threads) {
        const u32 at = memory.malformed[i];
        u32 record = 0;
        for (u32 high = tile.records; record < high;) {
            const u32 middle = (record + high) / 2;
            if (memory.starts[middle + 1] > at) {
                high = middle;
            } else {
                record = middle + 1;
            }
        }
        const u64 begin = tile_position(tile, record_begin(memory, tile, record));
        const u32 kind = static_cast<u32>(Fault::quote);
        list_fault(output, {tile.entry.record + record, begin, begin, 0, tile_position(tile, at), NO_FIELD, kind});
    }
}

// Returns how many of a lane's complete records are short.
HR_FN u32 count_short(const Cursor (&cursors)[per_lane]) {
    u32 count = 0;
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) count += cursors[i].live && cursors[i].is_short ? 1 : 0;
    return count;
}

// Adds the tile's short records to the totals. `count`: those of this thread.
HR_FN void add_short(RowMemory& memory, u32 count, const RowOutput& output) {
    auto& sums = reinterpret_cast<u32(&)[warps]>(memory.totals);
    const u32 all = tile::reduce_block<Sum<u32>, threads>(count, sums);
    if (threadIdx.x != 0 || all == 0) return;
    atomicAdd(&output.totals->filled, u64{all});
    atomicOr(&output.marks[blockIdx.x], u32{ROW_MARK_COUNTED});
}

// Appends the fields that the tile leaves to the list of all. Returns false if it has no place for them.
HR_FN bool put_left(RowMemory& memory, const RowTask& task, const RowTile& tile, const RowOutput& output) {
    const u32 count = memory.left_count;
    if (splits_records && (tile.far || tile.far_after)) return false;
    if (threadIdx.x == 0) memory.left_first = static_cast<u32>(atomicAdd(&output.totals->left, u64{count}));
    __syncthreads();
    const u32 first = memory.left_first;
    const bool skips_blank = task.dialect.flags & PLAIN_SKIP_BLANK;
    const u64 first_record = tile.entry.record;
    const bool fits = first + count <= output.capacity;
    for (u32 i = threadIdx.x; i < count && first + i < output.capacity; i += threads) {
        const LeftPlace place = memory.left[i];
        const u32 record = static_cast<u16>(place.row - static_cast<u16>(first_record));
        u32 begin = memory.starts[record];  // blank lines may follow
        while (skips_blank && begin < place.begin && staged_text(memory)[begin] == task.dialect.line_end) ++begin;
        const auto from_tile = [](u32 staged) { return static_cast<i16>(static_cast<i32>(staged) - i32{halo_bytes}); };
        const u32 end = find_end(memory, place.begin);
        output.left[first + i] = {blockIdx.x,     record,           from_tile(place.begin),
                                  from_tile(end), from_tile(begin), fits ? place.column : NO_LEFT};
    }
    return fits;
}

// Converts the tile, each warp a run of records. Returns whether all rows were read. `string_begins`, `sizes`: those of
// this tile.
HR_FN bool convert_tile(RowMemory& memory, const u8* text, const RowTask& task, const RowColumn* columns,
                        const RowTile& tile, const RowsFound& found, const u64* string_begins, const u16* sizes,
                        const ConvertColumn* all_columns, const RowOutput& output) {
    const u32 all = tile.records + (tile.far_after ? 1 : 0), run = (all + per_round - 1) / per_round * per_warp;
    const u32 begin = min(tile::warp() * run, all);
    u64 targets = 0;
    if (threadIdx.x == 0) memory.has_kinds = memory.left_count = 0;
    if (may_quote && !by_dfa && threadIdx.x == 0) memory.has_doubled = 0;
    if (task.strings != 0) {
        if (threadIdx.x == 0) row_strings(memory).long_count = 0;
        targets = string_targets(task, string_begins, sizes, begin / tile::lanes);
    }
    if (!open_tile(memory, text, task, tile, found)) return false;
    const bool sparse = is_sparse(task, columns, tile);
    bool whole = !sparse || read_sparse(memory, task, columns, tile);
    u32 short_records = 0;
    const u32 end = sparse ? 0 : min(begin + run, all);
    for (u32 own = begin; own < end; own += per_warp) {
        const u32 record = own + tile::lane();
        const bool has_parts = (tile.far && own == 0) || (tile.far_after && tile.records - own < tile::lanes);
        const RowGroup group{tile.entry.record + own, tile.entry.record + record, all_columns, has_parts,
                             may_quote && (by_dfa || has_parts || memory.has_doubled != 0)};
        Cursor cursors[per_lane];
#pragma unroll
        for (u32 i = 0; i < per_lane; ++i) cursors[i] = cursor_at(memory, tile, record + i * tile::lanes);
        if (splits_records && has_parts) split_records(memory, task, columns, tile, own, group, cursors[0]);
        read_records(memory, task, columns, tile, group, cursors, targets);
        whole &= are_whole(cursors, record, tile.records, has_parts && tile.far_after);
        if constexpr (has_short) short_records += count_short(cursors);
    }
    if (!__syncthreads_and(whole)) return false;
    if (task.strings != 0) copy_long(memory, task, row_strings(memory));
    if (memory.left_count != 0 && !put_left(memory, task, tile, output)) return false;
    if constexpr (has_short) add_short(memory, short_records, output);
    return true;
}

// Converts tiles and marks those that the general path converts after it. `string_begins`: for each tile and column of
// strings, the scanned sums of measure_rows and measure_strings. `sizes`: as measure_rows writes them. `unmeasured`: if
// there are strings, tiles with non-zero marks were not measured by the fast path and are declined. `marks`: a RowMark
// per tile, 0 before. `all_columns`: the table of the general conversion. `validated_rows`: null, or the row count that
// validate_estimate publishes. `faults`: where the DFA's malformed quotes are listed.
extern "C" __global__ void __launch_bounds__(threads, resident_blocks)
    convert_rows(const u8* text, const TileStart* entries, const RowColumn* __restrict__ columns,
                 const u64* string_begins, const u16* sizes, const u32* unmeasured, u32* marks,
                 const FindTotals* totals, const u64* validated_rows, ConvertTotals* counts, LeftField* left_fields,
                 u32 left_capacity, const ConvertColumn* all_columns, const __grid_constant__ RowTask task
#if HR_QUOTES == 2
                 ,
                 const __grid_constant__ FaultOutput faults
#endif
    ) {
    HR_DYNAMIC_SHARED(RowMemory, memory);
    const bool refused = is_mispredicted(validated_rows);
    const RowsFound found = rows_found(totals, task);
    const RowTile tile = row_tile_of(entries, text, task, found);
    if ((tile.records == 0 && !tile.far_after) || refused) return;
    const u64* const begins = string_begins + u64{blockIdx.x} * task.sums;
    const u16* const tile_sizes = sizes + u64{blockIdx.x} * task.groups * task.strings;
    const bool is_left = task.strings != 0 && (unmeasured == nullptr || unmeasured[blockIdx.x] != 0);
    const RowOutput output{left_fields, left_capacity, counts, marks};
    const bool fine =
        !is_left && convert_tile(*memory, text, task, columns, tile, found, begins, tile_sizes, all_columns, output);
#if HR_QUOTES == 2
    if (fine && memory->malformed_count != 0) report_malformed(*memory, tile, faults);
#endif
    if (threadIdx.x != 0 || (fine && memory->has_kinds == 0)) return;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const bool is_alone = !tile.entry.open || tile.far;  // earlier tiles read their parts of a far record
    const u64 begin = is_alone ? tile_position(tile, tile.begin) : tile.entries->record_begin;
    for (u64 i = (begin + skew) / tile_bytes; i <= blockIdx.x; ++i)
        atomicOr(&marks[i], u32{fine ? ROW_MARK_KINDS : ROW_MARK_ALL});
    if (tile::load_relaxed(&counts->left) < LEFT_TILES) atomicOr(&counts->left, LEFT_TILES);
}
#else
HR_FN bool measure_tile(RowMemory& memory, const u8* text, const RowTask& task, const RowColumn* columns,
                        const ConvertColumn* all_columns, const RowTile& tile, const RowsFound& found, u16* sizes) {
    if (threadIdx.x < MAX_ROW_STRINGS) memory.sums[threadIdx.x] = 0;
    if (tile.records == 0 || !has_sizes(task, tile)) return false;
    if (!open_tile(memory, text, task, tile, found)) return false;
    const auto column_of = [&](u32 number) { return load_column(columns, number); };
    const bool whole = measure_records(memory, task, tile, column_of, all_columns, sizes);
    const bool must_check = (task.flags & ROW_TASK_UTF8) && (found.flags & FIND_HIGH);
    return __syncthreads_and(whole && (!must_check || is_valid_text(text, task, tile.origin, first_checked(tile))));
}

// Measures strings: `sums[tile * task.sums + column]` is the number of bytes that the tile copies for the column.
// `sizes[(tile * groups + group) * strings + column]` is the number in each group of 32 records. `marks`: one per tile,
// 0 before; measure_strings measures the tiles that become 1. `all_columns`: the table of the general conversion.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    measure_rows(const u8* text, const TileStart* entries, const RowColumn* __restrict__ columns, u64* sums, u16* sizes,
                 u32* marks, const FindTotals* totals, const ConvertColumn* all_columns,
                 const __grid_constant__ RowTask task) {
    HR_DYNAMIC_SHARED(RowMemory, memory);
    const RowsFound found = rows_found(totals, task);
    const RowTile tile = row_tile_of(entries, text, task, found);
    u16* const tile_sizes = sizes + u64{blockIdx.x} * task.groups * task.strings;
    const bool fine = found.is_read && measure_tile(*memory, text, task, columns, all_columns, tile, found, tile_sizes);
    if (!fine && threadIdx.x == 0) marks[blockIdx.x] = 1;
    if (fine) put_sums(*memory, task, sums);
}
#endif
