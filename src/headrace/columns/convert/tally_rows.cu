// The search for structure of a text without quotes (structure/find_plain.cu), which measures strings as it goes: how
// many bytes of each column a tile copies, as measure_rows tells behind the search in a reading of its own. Without
// quotes every line end ends a record, so a tile knows its records before those of others are counted, and where the
// one began that is open at its first byte is behind the last line end of the bytes before it.
//
// A tile that is otherwise (blank lines, carriage returns, a record that began further before, fields that are not as
// many as there are columns) is marked, for measure_strings.
// Bytes moved: the text once, and HR_HEAD more a tile; a tile writes 40 bytes, and 8 for each column of strings.
#include "columns/convert/row_sizes.cuh"
#include "structure/plain_tally.cuh"

using namespace headrace;
using structure::Counts;
using structure::Patterns;
using structure::Place;

constexpr u32 rows = tile_bytes / 16 / threads;
constexpr u32 head_vectors = head_bytes / 16;
using SearchTile = structure::PlainTile<threads, rows>;
using Tallies = structure::PlainTallies<threads, rows, false>;
static_assert(!may_quote && SearchTile::bytes == tile_bytes);

// A column of a record, as far as its strings are measured.
struct RowBrief {
    u32 largest;
    RowKind kind;
    u8 string;
    u16 reserved;
};
struct RowBriefs {
    RowBrief columns[2 * MOST_ROW_STRINGS + 1];
};
static_assert(sizeof(RowBriefs) == 264);

// The tile as the search has it, in the text that is staged: one vector of the head lies before it.
HR_FN const SearchTile& search_tile(const RowMemory& memory) {
    return reinterpret_cast<const SearchTile&>(memory.text[head_vectors - 1]);
}

// Before the text stand line ends, as the search has it.
HR_FN void stage_text(RowMemory& memory, const u8* text, u64 size, i64 origin, const PlainDialect& dialect) {
    constexpr u32 vectors = staged_bytes / 16;
    if (origin >= 0 && static_cast<u64>(origin) + staged_bytes <= size) {
        const uint4* const from = reinterpret_cast<const uint4*>(text + origin);
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
            const u32 v = row * threads + threadIdx.x;
            tile::copy_async(&memory.text[v], from + v);
        }
        if (threadIdx.x < head_vectors) {
            const u32 v = rows * threads + threadIdx.x;
            tile::copy_async(&memory.text[v], from + v);
        }
    } else {
#pragma unroll 1
        for (u32 v = threadIdx.x; v < vectors; v += threads)
            memory.text[v] = structure::edge_vector(text, size, origin + 16 * i64{v}, dialect.line_end, dialect.other);
    }
    if (threadIdx.x < pad_vectors) {
        const u32 other = tile::repeated(dialect.other);
        memory.text[vectors + threadIdx.x] = {other, other, other, other};
    }
    if (threadIdx.x < pad_chunks) memory.ends[chunks + threadIdx.x] = ~0u;
    if (threadIdx.x < MOST_ROW_STRINGS) memory.sums[threadIdx.x] = 0;
    tile::wait_for_copies();
    __syncthreads();
}

// Notes a vector's ends of fields and lines. `there`: which of its bytes are the text's.
HR_FN void note_ends(RowMemory& memory, u32 v, const Place& place, const Patterns& patterns, u32 there) {
    tile::Bits ends, lines;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const structure::Delimiters found(place.word[k], patterns);
        ends.word[k] = found.separators | found.line_ends;
        lines.word[k] = found.line_ends;
    }
    reinterpret_cast<u16*>(memory.ends)[v] = static_cast<u16>(tile::gather(ends) & there);
    if (v >= head_vectors)
        reinterpret_cast<u16*>(memory.lines)[v - head_vectors] = static_cast<u16>(tile::gather(lines) & there);
}

// What a thread has of the tile and of the head.
HR_FN Counts count_tile(RowMemory& memory, const SearchTile& staged, u64 size, i64 origin,
                        const PlainDialect& dialect) {
    const Patterns patterns(dialect);
    const bool inner = origin >= 0 && static_cast<u64>(origin) + staged_bytes <= size;
    Counts counts;
#pragma unroll HR_UNROLL
    for (u32 row = 0; row < rows; ++row) {
        const u32 vector = SearchTile::vector_of(row), v = head_vectors + vector;
        const Place place = staged.place(vector);
        structure::count_plainly<false>(counts, place, patterns, false);
        if (dialect.flags & PLAIN_WATCHES) structure::watch(counts, place, dialect);
        note_ends(memory, v, place, patterns, inner ? 0xFFFF : structure::bytes_there(origin + 16 * i64{v}, size));
    }
    return counts;
}

// The same of the head, which is other tiles' to count.
HR_FN Counts look_at_head(RowMemory& memory, u64 size, i64 origin, const PlainDialect& dialect) {
    const Patterns patterns(dialect);
    Counts counts;
    if (threadIdx.x >= head_vectors) return counts;
    const uint4 words = memory.text[threadIdx.x];
    const Place place{{words.x, words.y, words.z, words.w}, 0};
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        counts.high |= place.word[k];
        counts.no_returns &= structure::Delimiters(place.word[k], patterns).no_returns;
    }
    note_ends(memory, threadIdx.x, place, patterns, structure::bytes_there(origin + 16 * i64{threadIdx.x}, size));
    return counts;
}

// Whether a thread has met what is not measured here. `not_there`: line ends before the text that it has counted, each
// of which stands behind another.
HR_FN bool is_odd(const Counts& counts, const RowTask& task, const PlainDialect& dialect, u32 not_there) {
    const bool returns = (dialect.flags & PLAIN_UNIVERSAL) && (~counts.no_returns & tile::top_bits) != 0;
    const bool high = (task.flags & ROWS_ASCII) && (counts.high & tile::top_bits) != 0;
    const u32 no_ends = dialect.flags & PLAIN_SKIP_BLANK ? 128 * not_there : 0;
    return returns || high || counts.all.no_ends != no_ends;
}

// By a warp: the staged byte behind the head's last line end; 0 if there is none.
HR_FN u32 behind_last_line(const RowMemory& memory, u8 line_end) {
    static_assert(head_chunks <= tile::lanes);
    u32 found = 0;
    for (u32 left = tile::lane() < head_chunks ? memory.ends[tile::lane()] : 0; left != 0 && found == 0;) {
        const u32 bit = 31 - static_cast<u32>(__clz(static_cast<i32>(left))), at = 32 * tile::lane() + bit;
        if (staged_text(memory)[at] == line_end) found = at + 1;
        left &= ~(1u << bit);
    }
    return __reduce_max_sync(tile::all_lanes, found);
}

// What the entries will tell of the tile. Of its first record's begin only the first warp knows.
HR_FN RowTile own_tile(const RowMemory& memory, const SearchTile& staged, const u8* text, const RowTask& task,
                       const PlainDialect& dialect) {
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const TileExtent extent = extent_of(blockIdx.x, tile_bytes, head_bytes, skew, task.size);
    RowTile tile{};
    tile.origin = extent.origin;
    tile.begin = extent.begin;
    tile.end = extent.end;
    tile.entry.open = blockIdx.x != 0 && staged.byte(-1) != dialect.line_end;
    tile.next.open = staged_text(memory)[tile.end - 1] != dialect.line_end;
    return tile;
}

// Whether all this thread has measured is whole.
HR_FN bool measure_tile(RowMemory& memory, const RowTask& task, RowTile tile, const RowBriefs& briefs, u8 line_end) {
    const LineEnds lines = find_lines(memory);
    tile.records = lines.total + (ends_text(task, tile) ? 1 : 0);
    if (tile.records == 0 || tile.records > most_records) return false;
    bool whole = true;
    if (tile::warp() == 0 && tile.entry.open) {
        const u32 begin = behind_last_line(memory, line_end);
        whole = begin >= window_reach;
        tile.entry.record_begin = tile_position(tile, whole ? begin : head_bytes);
    }
    put_starts(memory, task, tile, lines);
    const auto column_of = [&](u32 number) { return briefs.columns[number]; };
    return measure_records(memory, task, tile, column_of) && whole;
}

// `dialect`, `tallies`, `totals`: as tally_plain has them. `sums`: of tiles and columns of strings; `marks`: one for
// each tile, 0 before; those of tiles that are left to measure_strings become 1, and their sums stay as they are.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    tally_rows(const u8* text, PlainDialect dialect, Tally* tallies, FindTotals* totals, u64* sums, u32* marks,
               const __grid_constant__ RowTask task, const __grid_constant__ RowBriefs briefs) {
    HR_DYNAMIC_SHARED(RowMemory, memory);
    __shared__ Tallies::Shared shared;
    __shared__ u32 seen;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const i64 first = static_cast<i64>(blockIdx.x) * tile_bytes - skew, origin = first - head_bytes;
    const SearchTile& staged = search_tile(*memory);
    if (threadIdx.x == 0) seen = tile::load_relaxed(&totals->flags);
    stage_text(*memory, text, task.size, origin, dialect);
    if ((seen & FIND_REDO) != 0) return;

    const Counts head = look_at_head(*memory, task.size, origin, dialect);
    const Counts counts = count_tile(*memory, staged, task.size, origin, dialect);
    Tallies::share(shared, counts, false);
    structure::add_found(totals, structure::found_in(counts, dialect));
    const u32 not_there = first < 0 && threadIdx.x == 0 ? skew : 0;
    bool fine = !__syncthreads_or(is_odd(counts, task, dialect, not_there) || is_odd(head, task, dialect, 0));
    if (fine) {
        const RowTile tile = own_tile(*memory, staged, text, task, dialect);
        fine = measure_tile(*memory, task, tile, briefs, dialect.line_end);
    }
    if (tile::warp() == warps - 1) {  // which has the fewest records
        const Patterns patterns(dialect);
        const Tally tally = Tallies::tally_from(false, staged, shared, first, task.size, patterns);
        if (tile::lane() == 0) tallies[blockIdx.x] = tally;
    }
    fine = __syncthreads_and(fine);
    if (!fine && threadIdx.x == 0) marks[blockIdx.x] = 1;
    if (fine && threadIdx.x < task.strings)
        sums[u64{blockIdx.x} * task.strings + threadIdx.x] = memory->sums[threadIdx.x];
}
