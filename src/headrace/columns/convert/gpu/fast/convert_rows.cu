// Text in device memory to typed columns where it is as most texts are: every record has all its fields, and every
// field a common shape. A lane takes a record and reads its fields from left to right, so that a warp reads one column
// of 32 rows at a time, its stores lie side by side, and no index of fields is made. (The record by thread of
// Kumaigorodski et al., "Fast CSV loading using GPUs and RDMA", BTW 2021, on text in shared memory.)
//
// A tile here has the records that end in it. One that is otherwise is declined: it is marked, with those before it
// that its first record lies in, and the conversion by fields (convert.cu) does marked tiles, behind this one, anew.
// Bytes moved: the text once, the result once.
#include "columns/convert/gpu/fast/row_sizes.cuh"
#include "columns/convert/gpu/fast/row_strings.cuh"
#include "columns/convert/gpu/size_estimate.hpp"

using namespace headrace;

// What the search met, and whether it was an automaton that read the text.
struct RowsFound {
    u32 flags;
    bool by_steps;
};
HR_FN RowsFound rows_found(const FindTotals* totals, const RowTask& task) {
    u32 form = 0, flags = totals[0].flags;
    while (form < task.forms && (flags & FIND_REDO) != 0) flags = totals[++form].flags;
    return {flags, form == task.forms};
}

HR_FN RowTile row_tile_of(const TileEntry* entries, const u8* text, const RowTask& task, const RowsFound& found) {
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const TileExtent extent = extent_of(blockIdx.x, tile_bytes, head_bytes, skew, task.size);
    RowTile tile{};
    tile.entry = entries[blockIdx.x];
    tile.next = entries[blockIdx.x + 1];
    tile.text = text;
    tile.origin = extent.origin;
    tile.begin = extent.begin;
    tile.end = extent.end;
    tile.first_chunk = first_chunk_of(tile);
    const u64 records = tile.next.record - tile.entry.record;
    tile.records = records <= most_records ? static_cast<u32>(records) : most_records + 1;
    if (ends_text(task, tile)) ++tile.records;
    tile.returns = (task.dialect.flags & PLAIN_UNIVERSAL) && (found.by_steps || (found.flags & FIND_RETURN));
    tile.inside = (found.by_steps ? task.inside >> tile.entry.state & 1 : tile.entry.state) != 0;
    tile.quotes = !may_quote && (task.flags & ROWS_QUOTED) && (found.flags & FIND_QUOTES);
    tile.watches = found.by_steps && (task.dialect.flags & PLAIN_WATCHES);
    tile.text_quotes = may_quote && found.by_steps;
    return tile;
}

// Stages the tile and lists its records; false if it is not one to be read by rows.
HR_FN bool open_tile(RowMemory& memory, const u8* text, const RowTask& task, const RowTile& tile,
                     const RowsFound& found) {
    if (!is_readable(tile) || (found.flags & (FIND_STRAY | FIND_UNCLOSED))) return false;
    if (found.by_steps && !(task.flags & ROWS_STEPS)) return false;
    if (!stage_rows(memory, text, task, tile)) return false;
    return list_records(memory, task, tile);
}

// Sixteen bytes at a time.
HR_FN RowColumn load_column(const RowColumn* columns, u32 number) {
    struct Halves {
        uint4 low, high;
    };
    const uint4* const from = reinterpret_cast<const uint4*>(columns + number);
    return bits_as<RowColumn>(Halves{__ldg(from), __ldg(from + 1)});
}

#if HR_WRITES
// Reads the fields of a warp's records.
HR_FN void read_records(RowMemory& memory, const RowTask& task, const RowColumn* columns, const RowTile& tile,
                        const RowGroup& group, Cursor (&cursors)[per_lane], const StringPlaces& places) {
    for (u32 number = 0; number < task.columns; ++number) {
        const RowColumn column = load_column(columns, number);
        switch (column.kind) {
            case RowKind::int4:
                read_integers<u32>(memory, task, column, group, cursors);
                break;
            case RowKind::float4:
                read_reals<float>(memory, task, column, group, cursors);
                break;
            case RowKind::int1:
                read_integers<u8>(memory, task, column, group, cursors);
                break;
            case RowKind::int2:
                read_integers<u16>(memory, task, column, group, cursors);
                break;
            case RowKind::int8:
                read_integers<u64>(memory, task, column, group, cursors);
                break;
            case RowKind::float8:
                read_reals<double>(memory, task, column, group, cursors);
                break;
            case RowKind::date:
                read_dates(memory, task, column, group, cursors);
                break;
            case RowKind::timestamp:
                read_timestamps(memory, task, column, group, cursors);
                break;
            case RowKind::text:
                read_strings(memory, task, tile, column, group, cursors, places);
                break;
            default:
#pragma unroll
                for (u32 i = 0; i < per_lane; ++i) skip_fields(memory, cursors[i], column.largest);
        }
    }
}

// Whether all records that a lane has read are whole: the last field's end is theirs.
HR_FN bool are_whole(const Cursor (&cursors)[per_lane], u32 record, u32 records) {
    bool whole = true;
#pragma unroll
    for (u32 i = 0; i < per_lane; ++i) {
        const bool fine = cursors[i].live && cursors[i].at == cursors[i].end + 1;
        whole &= fine || record + i * tile::lanes >= records;
    }
    return whole;
}

// Whether all rows were read. `string_begins`, `sizes`: of this tile.
HR_FN bool convert_tile(RowMemory& memory, const u8* text, const RowTask& task, const RowColumn* columns,
                        const RowTile& tile, const RowsFound& found, const u64* string_begins, const u16* sizes) {
    StringPlaces places{tile::lane() < task.strings ? string_begins[tile::lane()] : 0, 0};
    if (task.strings != 0) {
        if (threadIdx.x == 0) strings_behind(memory).long_count = 0;
        move_to(places, task, sizes, min(tile::warp() * per_lane, tile.records / tile::lanes));
    }
    if (!open_tile(memory, text, task, tile, found)) return false;
    bool whole = true;
    for (u32 own = tile::warp() * per_warp; own < tile.records; own += per_round) {
        const u32 record = own + tile::lane();
        const RowGroup group{tile.entry.record + own, tile.entry.record + record};
        Cursor cursors[per_lane];
#pragma unroll
        for (u32 i = 0; i < per_lane; ++i) cursors[i] = cursor_at(memory, tile, record + i * tile::lanes);
        if (task.strings != 0) move_to(places, task, sizes, own / tile::lanes);
        read_records(memory, task, columns, tile, group, cursors, places);
        whole &= are_whole(cursors, record, tile.records);
    }
    if (!__syncthreads_and(whole)) return false;
    if (task.strings != 0) copy_long(memory, strings_behind(memory));
    return true;
}

// `string_begins`: of tiles and columns of strings, as measure_rows and measure_strings leave them when scanned;
// `sizes`: as measure_rows leaves them. `left`: where there are strings, tiles whose marks are not 0 were not measured
// by rows, and are not read by rows either. `marks`: one for each tile, 0 before; others are to be converted by
// convert_tiles. `ahead`: null, or what check_room left.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    convert_rows(const u8* text, const TileEntry* entries, const RowColumn* __restrict__ columns,
                 const u64* string_begins, const u16* sizes, const u32* left, u32* marks, const FindTotals* totals,
                 const u64* ahead, const __grid_constant__ RowTask task) {
    HR_DYNAMIC_SHARED(RowMemory, memory);
    const bool refused = is_refused(ahead);
    const RowsFound found = rows_found(totals, task);
    const RowTile tile = row_tile_of(entries, text, task, found);
    if (tile.records == 0 || refused) return;
    const u64* const begins = string_begins + u64{blockIdx.x} * task.strings;
    const u16* const own_sizes = sizes + u64{blockIdx.x} * task.groups * task.strings;
    const bool is_left = task.strings != 0 && (left == nullptr || left[blockIdx.x] != 0);
    if (!is_left && convert_tile(*memory, text, task, columns, tile, found, begins, own_sizes)) return;
    if (threadIdx.x != 0) return;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const u64 begin = tile.entry.open ? tile.entry.record_begin : tile_position(tile, tile.begin);
    for (u64 i = (begin + skew) / tile_bytes; i <= blockIdx.x; ++i) marks[i] = 1;
}
#else
HR_FN bool measure_tile(RowMemory& memory, const u8* text, const RowTask& task, const RowColumn* columns,
                        const RowTile& tile, const RowsFound& found, u16* sizes) {
    if (threadIdx.x < MOST_ROW_STRINGS) memory.sums[threadIdx.x] = 0;
    if (tile.records == 0 || !has_sizes(task, tile)) return false;
    if (!open_tile(memory, text, task, tile, found)) return false;
    const auto column_of = [&](u32 number) { return load_column(columns, number); };
    return __syncthreads_and(measure_records(memory, task, tile, column_of, sizes));
}

// How many bytes this tile copies for each column of strings: sums[tile * strings + column]; and of each 32 records:
// sizes[(tile * groups + group) * strings + column]. `marks`: one for each tile, 0 before; others are to be measured by
// measure_strings.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    measure_rows(const u8* text, const TileEntry* entries, const RowColumn* __restrict__ columns, u64* sums, u16* sizes,
                 u32* marks, const FindTotals* totals, const __grid_constant__ RowTask task) {
    HR_DYNAMIC_SHARED(RowMemory, memory);
    const RowsFound found = rows_found(totals, task);
    const RowTile tile = row_tile_of(entries, text, task, found);
    u16* const own_sizes = sizes + u64{blockIdx.x} * task.groups * task.strings;
    const bool fine = measure_tile(*memory, text, task, columns, tile, found, own_sizes);
    if (!fine && threadIdx.x == 0) marks[blockIdx.x] = 1;
    if (fine && threadIdx.x < task.strings)
        sums[u64{blockIdx.x} * task.strings + threadIdx.x] = memory->sums[threadIdx.x];
}
#endif
