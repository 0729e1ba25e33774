// Text in device memory to typed columns where it is as most texts are: no quotes in the tile, every record with all its
// fields, every field of a common shape. A lane takes a record and reads its fields from left to right, so that a warp
// reads one column of 32 rows at a time, its stores lie side by side, and no index of fields is made. (The record by
// thread of Kumaigorodski et al., "Fast CSV loading using GPUs and RDMA", BTW 2021, on text in shared memory.)
//
// A tile here has the records that end in it. One that is otherwise is declined: it is marked, with those before it that
// its first record lies in, and the conversion by fields (convert.cu) does marked tiles, behind this one, anew.
// Bytes moved: the text once, the result once.
#include "columns/row_strings.cuh"

using namespace headrace;

HR_FN RowTile row_tile_of(const TileEntry* entries, const u8* text, const RowTask& task) {
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const u64 begin = tile_begin(blockIdx.x, tile_bytes, skew), next = tile_begin(blockIdx.x + 1, tile_bytes, skew);
    RowTile tile{};
    tile.entry = entries[blockIdx.x];
    tile.next = entries[blockIdx.x + 1];
    tile.origin = static_cast<i64>(u64{blockIdx.x} * tile_bytes) - skew - head_bytes;
    tile.begin = static_cast<u32>(static_cast<i64>(begin) - tile.origin);
    tile.end = static_cast<u32>(static_cast<i64>(next < task.size ? next : task.size) - tile.origin);
    const u64 records = tile.next.record - tile.entry.record;
    tile.records = records <= most_records ? static_cast<u32>(records) : most_records + 1;
    const bool ends_text = blockIdx.x + 1 == task.tiles && tile.next.open;
    if (ends_text) ++tile.records;
    return tile;
}

// What the search met: of the form that read the text.
HR_FN u32 found_flags(const FindTotals* totals) {
    const u32 flags = totals[0].flags;
    return flags & FIND_REDO ? totals[1].flags : flags;
}

// Stages the tile and lists its records; false if it is not one to be read by rows.
HR_FN bool open_tile(RowMemory& memory, const u8* text, const RowTask& task, RowTile& tile, const FindTotals* totals) {
    if (!is_readable(task, tile)) return false;
    tile.seen = stage_rows(memory, text, task, tile, found_flags(totals));
    if (tile.seen & SEEN_QUOTE || ((tile.seen & SEEN_HIGH) && (task.flags & ROWS_ASCII))) return false;
    return list_records(memory, task, tile);
}

// The record of a lane; where there is none, some text.
HR_FN Cursor cursor_at(const RowMemory& memory, const RowTile& tile, u32 record) {
    Cursor cursor{head_bytes, head_bytes, record < tile.records, record >= tile.records};
    if (!cursor.active) return cursor;
    cursor.at = memory.starts[record];
    cursor.end = memory.starts[record + 1] - 1u;
    if ((tile.seen & SEEN_RETURN) && cursor.end > cursor.at && staged_bytes_of(memory)[cursor.end - 1] == '\r') {
        --cursor.end;
    }
    return cursor;
}

#if HR_WRITES
// Reads the fields of 32 records. Strings are put behind a barrier.
HR_FN void read_records(RowMemory& memory, const RowTask& task, const RowColumn* columns, const RowTile& tile,
                        const RowGroup& group, Cursor& cursor, u32 round) {
    const u32* const text = staged_words(memory);
    const u32 separator = tile::repeated(task.dialect.separator) ^ zeros;
    for (u32 number = 0; number < task.width; ++number) {
        const RowColumn column = columns[number];
        const bool last = number + 1 == task.width;
        switch (column.kind) {
            case RowKind::int1:
                read_integers<u8>(text, column, group, cursor, last, separator);
                break;
            case RowKind::int2:
                read_integers<u16>(text, column, group, cursor, last, separator);
                break;
            case RowKind::int4:
                read_integers<u32>(text, column, group, cursor, last, separator);
                break;
            case RowKind::int8:
                read_integers<u64>(text, column, group, cursor, last, separator);
                break;
            case RowKind::float4:
                read_reals<float>(text, column, group, cursor, last, separator);
                break;
            case RowKind::float8:
                read_reals<double>(text, column, group, cursor, last, separator);
                break;
            case RowKind::date:
                read_dates(text, column, group, cursor, last, separator);
                break;
            case RowKind::timestamp:
                read_timestamps(text, column, group, cursor, last, separator);
                break;
            default: {
                const u32 n = field_length(text, cursor, last, separator, tile.seen & SEEN_RETURN);
                if (column.kind == RowKind::text) {
                    read_strings(strings_behind(memory), column, group, cursor, n, round);
                    if (group.row == tile.entry.record && cursor.active) {
                        memory.sums[column.string] = n - owned_bytes(tile, cursor.at, cursor.at + n, false);
                    }
                }
                if (!cursor.bad) cursor.at += n + 1;
            }
        }
    }
    // A record ends with its last field, which has no separator behind it.
    if (cursor.active && cursor.at != cursor.end + 1) cursor.bad = true;
}

HR_FN void put_all_strings(RowMemory& memory, const RowTask& task, const RowColumn* columns, const RowGroup& group,
                           const Cursor& cursor, u32 round) {
    for (u32 number = 0; number < task.width; ++number) {
        if (columns[number].kind != RowKind::text) continue;
        const RowColumn column = columns[number];
        put_strings(memory, column, group, cursor, round);
    }
}

// Whether all rows were read.
HR_FN bool convert_tile(RowMemory& memory, const u8* text, const RowTask& task, const RowColumn* columns, RowTile& tile,
                        const FindTotals* totals, const u64* string_begins) {
    if (!open_tile(memory, text, task, tile, totals)) return false;
    if (tile::lane() < task.strings) {
        strings_behind(memory).bases[tile::warp()][tile::lane()] = string_begins[tile::lane()];
    }
    bool bad = false;
    u32 round = 0;
    for (u32 first = 0; first < tile.records; first += threads, ++round) {
        const u32 own = first + tile::warp() * tile::lanes;
        const u32 record = own + tile::lane();
        const RowGroup group{tile.entry.record + own, tile.entry.record + record};
        Cursor cursor = cursor_at(memory, tile, record);
        if (task.strings != 0 || own < tile.records) read_records(memory, task, columns, tile, group, cursor, round);
        bad |= cursor.active && cursor.bad;
        if (task.strings == 0) continue;
        if (__syncthreads_or(bad)) return false;
        put_all_strings(memory, task, columns, group, cursor, round);
    }
    return !__syncthreads_or(bad);
}

// `string_begins`: of tiles and columns of strings, as measure_rows and measure_strings leave them when scanned.
// `marks`: one for each tile, 0 before; others are to be converted by convert_tiles.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    convert_rows(const u8* text, const TileEntry* entries, const RowColumn* __restrict__ columns,
                 const u64* string_begins, u32* marks, const FindTotals* totals, const __grid_constant__ RowTask task) {
    HR_DYNAMIC_SHARED(RowMemory, memory);
    RowTile tile = row_tile_of(entries, text, task);
    if (tile.records == 0) return;
    const u64* const begins = string_begins + u64{blockIdx.x} * task.strings;
    if (convert_tile(*memory, text, task, columns, tile, totals, begins)) return;
    if (threadIdx.x != 0) return;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const u64 begin = tile.entry.open ? tile.entry.record_begin : tile_position(tile, tile.begin);
    for (u64 i = (begin + skew) / tile_bytes; i <= blockIdx.x; ++i) marks[i] = 1;
}
#else
// A column of the records, and of what there is of the record that is open at the tile's end.
HR_FN u32 measure_fields(const u32* text, const RowTile& tile, Cursor& cursor, bool open, bool last, u32 separator) {
    if (cursor.at > cursor.end) return 0;  // the open record has no such field here
    const u32 plain = separator ^ zeros;
    if (!open) {
        const u32 n = field_length(text, cursor, last, separator, tile.seen & SEEN_RETURN);
        const u32 begin = cursor.at;
        if (!cursor.bad) cursor.at += n + 1;
        return cursor.active && !cursor.bad ? owned_bytes(tile, begin, begin + n, false) : 0;
    }
    const u32 begin = cursor.at;
    const u32 end = find_end(text, begin, cursor.end, plain, tile.seen & SEEN_RETURN ? tile::repeated('\r') : plain);
    const bool ends = end < cursor.end;
    if (ends && (last || reinterpret_cast<const u8*>(text)[end] != (plain & 0xFF))) cursor.bad = true;
    cursor.at = ends ? end + 1 : cursor.end + 1;
    return owned_bytes(tile, begin, end, !ends);
}

HR_FN bool measure_tile(RowMemory& memory, const u8* text, const RowTask& task, const RowColumn* columns, RowTile& tile,
                        const FindTotals* totals) {
    if (threadIdx.x < MOST_ROW_STRINGS) memory.sums[threadIdx.x] = 0;
    if (tile.records == 0 || !open_tile(memory, text, task, tile, totals)) return false;
    const bool has_open = tile.next.open && blockIdx.x + 1 != task.tiles;
    const u32 separator = tile::repeated(task.dialect.separator) ^ zeros;
    bool bad = false;
    for (u32 first = tile::warp() * tile::lanes; first < tile.records + (has_open ? 1 : 0); first += threads) {
        const u32 record = first + tile::lane();
        const bool open = has_open && record == tile.records;
        Cursor cursor = cursor_at(memory, tile, record);
        if (open) cursor = {memory.starts[record], tile.end, true, false};
        for (u32 number = 0; number < task.width; ++number) {
            const RowColumn column = columns[number];
            const u32 size =
                measure_fields(staged_words(memory), tile, cursor, open, number + 1 == task.width, separator);
            if (column.kind != RowKind::text) continue;
            const u32 sum = __reduce_add_sync(tile::all_lanes, size);
            if (tile::lane() == 0 && sum != 0) atomicAdd(&memory.sums[column.string], sum);
        }
        if (cursor.active && !open && cursor.at != cursor.end + 1) cursor.bad = true;
        bad |= cursor.active && cursor.bad;
    }
    return !__syncthreads_or(bad);
}

// How many bytes this tile copies for each column of strings: sums[tile * strings + column]. `marks`: one for each tile,
// 0 before; others are to be measured by measure_strings.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    measure_rows(const u8* text, const TileEntry* entries, const RowColumn* __restrict__ columns, u64* sums, u32* marks,
                 const FindTotals* totals, const __grid_constant__ RowTask task) {
    HR_DYNAMIC_SHARED(RowMemory, memory);
    RowTile tile = row_tile_of(entries, text, task);
    const bool fine = measure_tile(*memory, text, task, columns, tile, totals);
    if (!fine && threadIdx.x == 0) marks[blockIdx.x] = 1;
    if (fine && threadIdx.x < task.strings) sums[u64{blockIdx.x} * task.strings + threadIdx.x] = memory->sums[threadIdx.x];
}
#endif
