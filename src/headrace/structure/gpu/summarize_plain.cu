// Summarizes each tile of a plain dialect's text: records, separators, and where the record and the field that are open
// at its end began. One block reads one tile, 16 bytes at a time as masks (plain_masks.cuh), and waits for no other
// block; scan_summaries.cu combines the summaries.
//
// The difficulty is that a tile does not know whether it begins inside quotes. ParPaRaw (section 3.1) reads a chunk
// from every start state. A plain dialect needs only two, inside and outside quotes. A byte is inside if the number of
// quotes up to it is odd (Langdale and Lemire, "Parsing gigabytes of JSON per second"). One pass counts both: all
// delimiters, and those that are outside quotes if the tile begins outside. From inside, the two sides swap:
// | text                  a , " b , c " , d \n
// | inside, from outside  . . 1 1 1 1 . . . .
// | separators            2 outside (bytes 1, 7), 3 in all: from outside 2, from inside 3 - 2 = 1 (byte 4)
// The variant without quotes (HR_QUOTED 0) writes one summary a tile, the variant with quotes two.
//
// A single launch with decoupled look-back would need no second kernel, but each tile waited for those before it: half
// the rate (docs/decisions/0014).
//
// Bytes moved: the text once; 40 bytes written a tile without quotes, 80 with.
#include "gpu/block/block.cuh"
#include "structure/gpu/plain_summary.cuh"

using namespace headrace;
using namespace headrace::structure;

constexpr bool quoted = HR_QUOTED;
constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 states = quoted ? 2 : 1;
using Tile = PlainTile<threads, rows>;
using Tallies = PlainSummaries<threads, rows, quoted>;

// Summarizes tile `number`. Returns false if another variant has to read the text, so that the block can stop.
HR_FN bool tally_tile(const u8* text, u64 bytes, const PlainDialect& dialect, TileSummary* tallies, FindTotals* totals,
                      u32 number, u32 tiles) {
    __shared__ Tile staged;
    __shared__ Tallies::PlainWarpCounts shared;
    __shared__ u32 seen;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const i64 first = static_cast<i64>(number) * Tile::bytes - skew;
    const Patterns patterns(dialect);
    if (threadIdx.x == 0) seen = tile::load_relaxed(&totals->flags);
    staged.stage(text, bytes, first, dialect);
    if ((seen & FIND_REDO) != 0) return false;

    PlainCounts counts;
    bool inside = false;
#pragma unroll HR_UNROLL
    for (u32 row = 0; row < rows; ++row) {
        const u32 vector = Tile::vector_of(row);
        const TextVector place = staged.place(vector);
        if constexpr (quoted) {
            const tile::Bits quotes = find_byte(place, patterns.quote);
            const bool some = tile::any(quotes) != 0 || place.before == (patterns.quote & 0xFF);
            if (__any_sync(tile::all_lanes, some)) {
                const Parities parities(quotes);
                const u32 there = Tile::is_inner(first, bytes) ? 0xFFFF : bytes_there(first + vector * 16, bytes);
                count_quoted(counts, place, patterns, quotes, inside != parities.before(), there);
                inside = inside != parities.all();
            } else {
                count_plainly<quoted>(counts, place, patterns, inside);
            }
        } else {
            count_plainly<quoted>(counts, place, patterns, false);
        }
        if (dialect.flags & PLAIN_WATCHES) watch(counts, place, dialect);
    }
    Tallies::share(shared, counts, inside);
    add_found(totals, found_in(counts, dialect));
    __syncthreads();
    for (u32 state = tile::warp(); state < states; state += warps) {
        const TileSummary tally = Tallies::summary_from(state != 0, staged, shared, first, bytes, patterns);
        if (tile::lane() == 0) tallies[u64{state} * tiles + number] = tally;
    }
    return true;
}

// `tallies`: summaries of all tiles from outside quotes; with quotes, then those from inside. `other`: totals of the
// preceding variant, or null. Unless that variant set FIND_REDO, this launch does nothing. It therefore has few blocks,
// which loop over the tiles: 65,536 blocks that return at once took 40 us.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    summarize_plain(const u8* text, u64 bytes, PlainDialect dialect, TileSummary* tallies, FindTotals* totals,
                    const FindTotals* other, u32 tiles) {
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    for (u32 number = blockIdx.x; number < tiles; number += gridDim.x) {
        if (number != blockIdx.x) __syncthreads();  // other warps may still read the previous tile
        if (!tally_tile(text, bytes, dialect, tallies, totals, number, tiles)) return;
    }
}
