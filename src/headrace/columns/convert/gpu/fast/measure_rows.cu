// Searches a text's structure, as structure/gpu/summarize_plain.cu does. In the same pass it measures strings: the
// number of bytes of each column that a tile copies. The kernel measure_rows computes the same after the search, with a
// pass of its own. Bit masks of the text are made in registers (structure/gpu/word_summary.cuh) and all else is derived
// from them. The text is not staged, so a multiprocessor holds many tiles at once.
//
// The records that end in a tile depend on whether the tile begins inside quotes. The kernel guesses outside, unless a
// quote would then be malformed and none is if the tile begins inside. Then scan_summaries.cu computes the actual state
// and marks tiles whose guess was wrong. The record that is open at the tile's first byte begins after the last line
// end outside quotes in the head.
//
// A tile that does not qualify is marked for measure_strings. Such a tile has carriage returns, or records with another
// number of fields. Of a record that began before the head the tile lists the field ends, for add_far_fields. A tile
// without quotes may be the middle of a long field in quotes, which the scan shows: then add_far_fields measures it.
//
// Bytes moved: the text once, and HR_HEAD more per tile. A tile writes 40 bytes, with quotes 80, and 8 for each column
// of strings.
#include "columns/convert/gpu/fast/row_sizes.cuh"
#include "structure/gpu/word_summary.cuh"

using namespace headrace;
using structure::Patterns;
using structure::PlainBytes;
using structure::WordTile;

using Tallies = structure::WordSummaries<threads, tile_chunks, may_quote>;
static_assert(!stages_text && head_chunks % 4 == 0 && Tallies::own == thread_chunks);

struct SummaryMemory {
    RowMemory rows;
    alignas(16) u32 separators[chunks];
    u32 lines[chunks];
    u32 records[tile_chunks];
    u32 inside[may_quote ? tile_chunks : 1];
    Tallies::WordWarpCounts shared;
    u32 head_begin[warps];  // one past the last line end outside quotes in a warp's words of the head, or 0
    u32 seen;
    u32 high[warps];  // not 0 if the warp has read bytes outside ASCII
};

HR_FN WordTile words_of(SummaryMemory& memory) {
    return {memory.separators + head_chunks, memory.lines + head_chunks,
            memory.rows.dropped + (may_quote ? head_chunks : 0), memory.records, memory.inside};
}

// Reads the tile and the head and makes their bit masks. Returns summaries of the bytes. Ends with a barrier.
HR_FN PlainBytes note_tile(SummaryMemory& memory, const u8* text, u64 size, i64 origin, const PlainDialect& dialect) {
    constexpr u32 vectors = staged_bytes / 16;
    constexpr i32 head_vectors = halo_bytes / 16;
    const Patterns patterns(dialect);
    const WordTile words = words_of(memory);
    PlainBytes counts;
    const auto note = [&](u32 v, uint4 bytes) {
        structure::note_vector<may_quote>(words, static_cast<i32>(v) - head_vectors, bytes, patterns, counts);
        if (dialect.flags & PLAIN_WATCHES) structure::watch(counts, bytes, dialect);
    };
    structure::note_vectors<vectors, threads, HR_UNROLL>(text, size, origin, dialect.other, note);
    if (threadIdx.x < pad_chunks) memory.rows.ends[chunks + threadIdx.x] = ~0u;
    if (may_quote && threadIdx.x < 2) memory.rows.dropped[chunks + threadIdx.x] = 0;
    if (threadIdx.x < MAX_ROW_STRINGS) memory.rows.sums[threadIdx.x] = 0;
    __syncthreads();
    return counts;
}

// Returns whether the tile or its head has bytes for which this kernel declines the tile.
HR_FN bool has_odd(const PlainBytes& counts, const PlainDialect& dialect) {
    return (dialect.flags & PLAIN_UNIVERSAL) && (~counts.no_returns & tile::top_bits) != 0;
}

// Shares whether this warp has read bytes outside ASCII. `has_high` requires a barrier after it.
HR_FN void share_high(SummaryMemory& memory, const PlainBytes& counts) {
    const bool found = __any_sync(tile::all_lanes, (counts.high & tile::top_bits) != 0);
    if (tile::lane() == 0) memory.high[tile::warp()] = found;
}
HR_FN bool has_high(const SummaryMemory& memory) {
    u32 found = 0;
#pragma unroll
    for (u32 warp = 0; warp < warps; ++warp) found |= memory.high[warp];
    return found != 0;
}

// Returns the tile's properties, except its records, as its entries will be if the guess is right.
HR_FN RowTile tile_of(const SummaryMemory& memory, const u8* text, const RowTask& task, bool inside,
                      bool inside_after) {
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const TileExtent extent = extent_of(blockIdx.x, tile_bytes, halo_bytes, skew, task.size);
    const u32 last = extent.end - 1;
    RowTile tile{};
    tile.text = text;
    tile.origin = extent.origin;
    tile.begin = extent.begin;
    tile.end = extent.end;
    tile.inside = inside;
    tile.entry.open = blockIdx.x != 0 && (inside || memory.lines[head_chunks - 1] >> 31 == 0);
    tile.next.open = inside_after || (memory.lines[last / 32] >> (last % 32) & 1) == 0;
    return tile;
}

// Finds the end of the last line end outside quotes in a warp's words of the head; 0 if there is none.
HR_FN void find_begin(SummaryMemory& memory, bool inside) {
    const u32 word = threadIdx.x;
    const bool there = word < head_chunks;
    u32 within = 0;
    if constexpr (may_quote) within = inside_of_head(memory.rows, there ? memory.rows.dropped[word] : 0, inside);
    const u32 lines = there ? memory.lines[word] & ~within : 0;
    const u32 end = lines != 0 ? 32 * word + 32 - static_cast<u32>(__clz(static_cast<i32>(lines))) : 0;
    const u32 last = __reduce_max_sync(tile::all_lanes, end);
    if (tile::lane() == 0) memory.head_begin[tile::warp()] = last;
}

// Resolves the tile's words and stores them. `side`: all ones if the warp's part begins inside quotes. Has a barrier.
HR_FN LineEnds resolve_thread_words(SummaryMemory& memory, const PlainDialect& dialect, bool inside,
                                    const Tallies::Own& own, u32 side) {
    RowMemory& rows = memory.rows;
    const u32 word = threadIdx.x;
    const u32 head_ends = word < head_chunks ? memory.separators[word] | memory.lines[word] : 0;
    if constexpr (may_quote) {
        QuotedWords words;
        u32 from_outside[thread_chunks];
#pragma unroll
        for (u32 i = 0; i < thread_chunks; ++i) {
            words.ends[i] = own.separators[i] | own.records[i];
            words.lines[i] = own.records[i];
            words.quotes[i] = own.quotes[i];
            words.inside[i] = own.inside[i] ^ side;
            from_outside[i] = words.inside[i] ^ (inside ? ~0u : 0);
        }
        store_thread_words(memory.inside, from_outside);
        return resolve_words(rows, dialect, head_ends, inside, words);
    } else {
        u32 ends[thread_chunks];
#pragma unroll
        for (u32 i = 0; i < thread_chunks; ++i) {
            ends[i] = own.separators[i] | own.records[i];
        }
        store_thread_words(rows.lines, own.records);
        store_thread_words(rows.ends + head_chunks, ends);
        if (word < head_chunks) rows.ends[word] = head_ends;
        return find_lines(rows);
    }
}

// Lists the tile's records. Returns false if the tile cannot be measured. Has a barrier.
HR_FN bool list_tile(SummaryMemory& memory, const RowTask& task, const PlainDialect& dialect, RowTile& tile,
                     const Tallies::Own& own, bool turned) {
    if (has_head()) find_begin(memory, tile.inside);
    const LineEnds lines = resolve_thread_words(memory, dialect, tile.inside, own, turned ? ~0u : 0);
    tile.records = lines.total + (ends_text(task, tile) ? 1 : 0);
    u32 begin = 0;
    for (u32 warp = 0; warp * tile::lanes < head_chunks; ++warp) begin = max(begin, memory.head_begin[warp]);
    tile.far = tile.entry.open && begin < window_reach;
    if (tile.entry.open) tile.entry.record_begin = tile_position(tile, begin);
    if (tile.records > max_records || !has_sizes(task, tile)) return false;
    put_starts(memory.rows, task, tile, lines);
    return true;
}

// Returns the position in the tile of a staged byte, without the dropped quotes before it.
HR_FN u16 kept_position(const RowMemory& memory, u32 at) {
    return static_cast<u16>(at - (may_quote ? dropped_until(memory, at) : halo_bytes));
}

// Returns the number of dropped quotes in the string_head bytes before the tile and in the tile, up to a staged byte.
HR_FN u32 count_dropped(const RowMemory& memory, u32 end) {
    return dropped_until(memory, end) - dropped_until(memory, halo_bytes - string_head);
}

// Lists the ends of the tile's fields up to a staged byte, by a warp. Returns false if they are too many.
HR_FN bool list_far(const RowMemory& memory, u32 last, FarFields& far) {
    u32 count = 0;
    for (u32 first = head_chunks; 32 * first <= last; first += tile::lanes) {
        const u32 word = first + tile::lane();
        u32 ends = 32 * word <= last ? memory.ends[word] & (~0u >> (31 - min(last - 32 * word, 31u))) : 0;
        const u32 own = static_cast<u32>(__popc(ends)), until = tile::scan_warp<Sum<u32>>(own);
        for (u32 slot = count + until - own; ends != 0 && slot < MAX_FAR; ends &= ends - 1, ++slot)
            far.ends[slot] = kept_position(memory, 32 * word + first_bit(ends));
        count += tile::shuffle(until, tile::lanes - 1);
    }
    if (tile::lane() == 0) {
        far.count = static_cast<u16>(count);
        far.open = kept_position(memory, staged_bytes - string_head);
        far.dropped = static_cast<u16>(count_dropped(memory, halo_bytes));
    }
    return count <= MAX_FAR;
}

// `dialect`, `tallies`, `totals`: as for summarize_plain. `sums`, `sizes`: as measure_rows writes them. `marks`: one
// per tile, 0 before; measure_strings measures the tiles that become 1.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    summarize_rows(const u8* text, PlainDialect dialect, TileSummary* tallies, FindTotals* totals, u64* sums,
                   u16* sizes, u32* marks, const __grid_constant__ RowTask task,
                   const __grid_constant__ MeasuredColumns measured) {
    HR_DYNAMIC_SHARED(SummaryMemory, memory);
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const i64 first = static_cast<i64>(blockIdx.x) * tile_bytes - skew;
    const u32 tile_end = extent_of(blockIdx.x, tile_bytes, 0, skew, task.size).end;
    if (threadIdx.x == 0) memory->seen = tile::load_relaxed(&totals->flags);
    const PlainBytes counts = note_tile(*memory, text, task.size, first - halo_bytes, dialect);
    if ((memory->seen & FIND_REDO) != 0) return;

    const Patterns patterns(dialect);
    const WordTile words = words_of(*memory);
    const Tallies::Where where{text, first, tile_end};
    structure::add_found(totals, structure::found_in(counts, dialect));
    const Tallies::Own own = Tallies::share(memory->shared, words, where, patterns);
    if constexpr (may_quote) share_head(memory->rows);
    if (task.flags & ROW_TASK_UTF8) share_high(*memory, counts);
    bool fine = !__syncthreads_or(has_odd(counts, dialect));
    const Tallies::Sides sides(memory->shared);
    const bool from_outside = may_quote && sides.any(memory->shared.strays, false);
    const bool inside = blockIdx.x != 0 && from_outside && !sides.any(memory->shared.strays, true);
    fine = fine && from_outside == inside;

    FarFields& far = far_fields(sizes, task)[blockIdx.x];
    if (threadIdx.x == 0) far.count = NOT_FAR;
    RowTile tile = tile_of(*memory, text, task, inside, inside != ((__popc(sides.odd) & 1) != 0));
    tile.blanks = sides.any(memory->shared.runs, inside);
    tile.line_end = dialect.line_end;
    fine = list_tile(*memory, task, dialect, tile, own, inside != sides.turned()) && fine;
    const bool listed = fine;
    if (listed) {
        const auto column_of = [&](u32 number) { return measured.columns[number]; };
        u16* const tile_sizes = sizes + u64{blockIdx.x} * task.groups * task.strings;
        fine = measure_records(memory->rows, task, tile, column_of, nullptr, tile_sizes);
    }
    const bool must_check = (listed || may_quote) && (task.flags & ROW_TASK_UTF8) && has_high(*memory);
    const bool is_valid = !must_check || is_valid_text(tile.text, task, tile.origin, first_checked(tile));
    fine &= is_valid;
    if (listed && tile.far && tile::warp() == 0) {
        const u32 last = tile.records == 0 ? tile.end - 1 : memory->rows.starts[1] - 1u;
        fine &= list_far(memory->rows, last, far);
    }
    // The last warps take the states: they have the fewest records. All threads have passed the barriers above.
    for (u32 state = warps - 1 - tile::warp(); state < Tallies::states; state += warps) {
        TileSummary tally = Tallies::summary_from(state != 0, words, memory->shared, sides, where, patterns);
        tally.flags |= inside ? u32{SUMMARY_GUESSED_QUOTED} : 0u;
        if (tile::lane() == 0) tallies[u64{state} * gridDim.x + blockIdx.x] = tally;
    }
    fine = __syncthreads_and(fine);
    const bool all_valid = fine || !may_quote || !must_check || __syncthreads_and(is_valid);
    if (may_quote && threadIdx.x == 0) far.is_text = all_valid && count_dropped(memory->rows, 32 * chunks) == 0;
    if (!fine && threadIdx.x == 0) marks[blockIdx.x] = 1;
    if (fine) put_sums(memory->rows, task, sums);
}

// Adds the bytes of strings that summarize_rows could not, with a thread for each tile. They are of records that began
// far before it, whose columns are known after the scan of the summaries. `sums`, `sizes`, `marks`: as summarize_rows
// writes them. A tile is marked if its first record has another number of fields. The scan has marked a tile of text
// inside quotes: it is measured here.
extern "C" __global__ void __launch_bounds__(threads)
    add_far_fields(const u8* text, const TileStart* entries, const FindTotals* totals, u64* sums, u16* sizes,
                   u32* marks, const __grid_constant__ RowTask task, const __grid_constant__ MeasuredColumns measured) {
    const u32 number = blockIdx.x * threads + threadIdx.x;
    if (number >= task.tiles || (totals->flags & FIND_REDO) != 0) return;
    const FarFields& far = far_fields(sizes, task)[number];
    const TileStart entry = entries[number];
    const bool is_text = may_quote && entry.state != 0 && far.is_text != 0;
    if (!is_text && (far.count == NOT_FAR || tile::load_relaxed(&marks[number]) != 0)) return;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const u32 count = is_text ? 0 : far.count;
    if (is_text) {
        for (u32 i = 0; i < task.sums; ++i) sums[u64{number} * task.sums + i] = 0;
        tile::store_relaxed(&marks[number], 0u);
    }
    const bool ends = number + 1 == task.tiles || entries[number + 1].record != entry.record;
    const i64 field_begin = static_cast<i64>(entry.field_begin - tile_begin(number, tile_bytes, skew));
    constexpr i32 head = -static_cast<i32>(STRING_HEAD);
    // If the first field begins within the head, it is not known which quotes there are its own.
    const u32 dropped = may_quote && !is_text ? far.dropped : 0;
    bool is_whole = dropped == 0 || field_begin <= head;
    u32 fields = 0;
    for (u32 i = 0; i < task.columns; ++i) {
        const MeasuredColumn own = measured.columns[i];
        const u32 k = fields - entry.column;  // index among the far fields; a large number if the field is before them
        fields += own.kind == RowKind::text ? 1 : own.largest;
        if (own.kind != RowKind::text || k > count || (k == count && ends)) continue;
        const i32 first = static_cast<i32>(max(field_begin, i64{head}) + dropped);
        const i32 from = k != 0 ? far.ends[k - 1] + 1 : first;
        const i32 until = k != count ? far.ends[k] : is_text ? static_cast<i32>(tile_bytes) + head : far.open;
        if (until <= from) continue;
        sums[u64{number} * task.sums + own.number] += static_cast<u32>(until - from);
        sizes[u64{number} * task.groups * task.strings + own.number] += static_cast<u16>(until - from);
    }
    is_whole &= ends ? entry.column + count == fields : entry.column + count < fields;
    if (!is_whole) tile::store_relaxed(&marks[number], 1u);
}
