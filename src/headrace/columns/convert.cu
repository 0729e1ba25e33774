// Text in device memory to typed columns: the second pass over the text, behind the search for structure, which tells
// each tile what is open where it begins (structure/tile_entry.hpp). A block takes a tile: it stages the text in shared
// memory, finds its fields there (tile_fields.cuh), and then its warps take units of one column and 32 rows, so that a
// warp is of one type and its stores are side by side in the result. No index leaves the chip. (Stehle and Jacobsen,
// "ParPaRaw", VLDB 2020, whose passes over tags and sorted symbols are what this shape saves.)
//
// Bytes moved: the text once, the result once.
#include "columns/fast_values.cuh"
#include "columns/tile_strings.cuh"

using namespace headrace;

// A value's bytes at its row.
HR_FN void put_value(const ConvertColumn& column, u64 row, const Int128& value) {
    switch (width_of(column.type)) {
        case 1:
            column.values[row] = static_cast<u8>(value.low);
            break;
        case 2:
            reinterpret_cast<u16*>(column.values)[row] = static_cast<u16>(value.low);
            break;
        case 4:
            reinterpret_cast<u32*>(column.values)[row] = static_cast<u32>(value.low);
            break;
        case 8:
            reinterpret_cast<u64*>(column.values)[row] = value.low;
            break;
        case 16:
            reinterpret_cast<Int128*>(column.values)[row] = value;
            break;
    }
}

// A value, and whether there is one; zero where there is none.
struct Converted {
    Int128 value;
    bool present;
};

// The slow way of one field.
HR_COLD Converted convert_by_rule(const TileMemory& memory, const u8* text, const ConvertTask& task,
                                  const ConvertColumn& column, const FieldPlace& place, u64 row, bool sound) {
    const FieldText field = text_of(memory, text, task, place, false);
    Converted result{};
    u32 kind;
    const Settled settled = settle_field(column, field, task.dialect.quote, result.value, kind);
    result.present = settled == Settled::value;
    if (settled == Settled::value || settled == Settled::null || !sound) return result;
    FieldFault fault = fault_at(memory, task, place, column.position, row);
    if (settled == Settled::kind) {
        see_kind(column, kind, fault.begin, row);
        return result;
    }
    fault.kind = settled == Settled::deferred  ? FAULT_DEFERRED
                 : settled == Settled::invalid ? static_cast<u32>(Fault::type)
                                               : static_cast<u32>(Fault::overflow);
    report(memory, task, fault);
    return result;
}

// 32 rows of one column of fixed width.
HR_FN void convert_values(const TileMemory& memory, const u8* text, const ConvertTask& task, const Tile& tile,
                          const Window& window, const ConvertColumn& column, u64 row) {
    const RowField found = field_of_row(memory, task, tile, window, column.position, row);
    Converted made{};
    if (found.mine) {
        const FieldPlace place = place_of(memory, task, tile, window, column.position, found.slot);
        const i64 size = place.end - place.begin;
        const bool quoted = may_quote && size >= 2 && place.begin >= 0 && (task.dialect.flags & PLAIN_QUOTES) &&
                            staged_text(memory)[place.begin] == task.dialect.quote;
        const u32 n = static_cast<u32>(size) - (quoted ? 2 : 0);
        bool settled = size == 0 && (column.flags & CONVERT_EMPTY_IS_NULL);
        if ((column.flags & CONVERT_FAST) && place.begin >= 0 && n - 1 < longest_fast) {
            const u32* const words = reinterpret_cast<const u32*>(memory.text);
            made.present = fast_value(column, words, place.end - (quoted ? 1 : 0), n, made.value);
            settled = made.present;
        }
        if (!settled) made = convert_by_rule(memory, text, task, column, FieldPlace(place), row, found.sound);
    }
    const bool here = found.mine || found.missing;
    if (here) put_value(column, row, made.value);
    const u32 rows = __ballot_sync(tile::all_lanes, here);
    put_bits(column.validity, row, rows, __ballot_sync(tile::all_lanes, made.present));
    if (column.type != TypeId::boolean) return;
    put_bits(reinterpret_cast<u32*>(column.values), row, rows, __ballot_sync(tile::all_lanes, made.value.low != 0));
}

// All units of a window, dealt out to the warps. `string_bytes`: a word for each column of strings, its bytes before.
template <bool writes>
HR_FN void convert_window(const TileMemory& memory, const u8* text, const ConvertTask& task, const Tile& tile,
                          const Window& window, const ConvertColumn* columns, u64* string_bytes) {
    const RowSpan rows = rows_of(tile, window, task.width);
    const u64 first = rows.first / 32;
    const u32 groups = rows.end > rows.first ? static_cast<u32>((rows.end + 31) / 32 - first) : 0;
    const u32 units = task.strings + (writes ? (task.columns - task.strings) * groups : 0);
    for (u32 unit = tile::warp(); unit < units; unit += threads / tile::lanes) {
        if (unit < task.strings) {
            const u64 base = string_bytes[unit];
            const u32 added =
                convert_strings<writes>(memory, text, task, tile, window, columns[unit], base);
            __syncwarp();  // all lanes have read it
            if (tile::lane() == 0) string_bytes[unit] = base + added;
        } else {
            const u32 number = unit - task.strings;
            const u64 row = (first + number % groups) * 32 + tile::lane();
            convert_values(memory, text, task, tile, window, columns[task.strings + number / groups], row);
        }
    }
}

HR_FN Tile tile_of(const TileEntry* entries, const u8* text, const ConvertTask& task) {
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const u64 begin = tile_begin(blockIdx.x, tile_bytes, skew), next = tile_begin(blockIdx.x + 1, tile_bytes, skew);
    Tile tile{};
    tile.entry = entries[blockIdx.x];
    tile.next = entries[blockIdx.x + 1];
    tile.origin = static_cast<i64>(u64{blockIdx.x} * tile_bytes) - skew - head_bytes;
    tile.begin = static_cast<u32>(static_cast<i64>(begin) - tile.origin);
    tile.end = static_cast<u32>(static_cast<i64>(next < task.size ? next : task.size) - tile.origin);
    tile.last_end = blockIdx.x + 1 == task.tiles && tile.next.open;
    return tile;
}

// What is wrong with the tile's quotes.
HR_COLD void report_quotes(const TileMemory& memory, const ConvertTask& task, const OwnMasks& own) {
    report_strays(memory, task, own);
    const Tile& tile = memory.tile;
    if (threadIdx.x != 0 || !tile.last_end || tile.next.state == 0) return;
    const u64 begin = tile.next.record_begin;
    const u32 kind = static_cast<u32>(Fault::unclosed_quote);
    report(memory, task, {tile.next.record, begin, begin, task.size, tile.next.field_begin, NO_FIELD, kind});
}

template <bool writes>
HR_FN void convert_tile(TileMemory& memory, const u8* text, const ConvertTask& task, const TileEntry* entries,
                        const ConvertColumn* columns, u64* string_bytes) {
    Tile tile = tile_of(entries, text, task);
    OwnMasks own;
    stage_tile(memory, text, task, tile);
    settle_tile(memory, text, task, tile, own);
    Window window{0, 0, 0, 0, tile.entry.column};
    if (threadIdx.x == 0) memory.tile = tile;
    if (writes && blockIdx.x == 0) {
        for (u32 i = threadIdx.x; i < task.strings; i += threads) put_offset(columns[i], 0, 0);
    }
    do {
        window.count = min(tile.fields - window.first, window_fields);
        list_window(memory, tile, own, window);
        if (writes && may_quote && window.first == 0) {
            const OwnMasks masks = own;
            report_quotes(memory, task, masks);
        }
        if (!tile.regular) {
            if (threadIdx.x == 0) memory.window = window;
            __syncthreads();
            if (writes) report_records(memory, task);
        }
        convert_window<writes>(memory, text, task, tile, window, columns, string_bytes);
        __syncthreads();
        if (!tile.regular) {
            const u32 behind = window.records == 0 ? 0 : last_field_of(memory, window.records - 1) + 1;
            window.column = (window.records == 0 ? window.column : 0) + window.count - behind;
            window.records_before += window.records;
            __syncthreads();
        }
        window.first += window.count;
    } while (window.first < tile.fields);
}

#if HR_WRITES
// `string_begins`: what measure_strings found, scanned over the tiles for each column; left are sums of one tile more.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    convert_tiles(const u8* text, const TileEntry* entries, const ConvertColumn* columns, u64* string_begins,
                  FieldFault* faults, ConvertTotals* totals, const __grid_constant__ ConvertTask task) {
    HR_DYNAMIC_SHARED(TileMemory, memory);
    if (threadIdx.x == 0) {
        memory->faults = faults;
        memory->totals_of_text = totals;
    }
    convert_tile<true>(*memory, text, task, entries, columns, string_begins + u64{blockIdx.x} * task.strings);
}
#else
// How many bytes this tile copies for each column of strings: sums[tile * strings + column], which are zero before.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    measure_strings(const u8* text, const TileEntry* entries, const ConvertColumn* columns, u64* sums,
                    const __grid_constant__ ConvertTask task) {
    HR_DYNAMIC_SHARED(TileMemory, memory);
    convert_tile<false>(*memory, text, task, entries, columns, sums + u64{blockIdx.x} * task.strings);
}
#endif
