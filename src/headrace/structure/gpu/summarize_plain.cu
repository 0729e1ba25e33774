// What each tile of a plain dialect's text comes to: records, separators, and where the record and the field that are
// open at its end began. Sixteen bytes at a time become masks (plain_masks.cuh). A block has one tile and waits for no
// other; scan_summaries.cu joins them.
//
// Two forms. Without quotes a byte means what it and the byte before say. With them a byte is inside quotes where the
// number of quotes up to it is odd: what is counted is counted twice, on both sides and outside, and from inside quotes
// the two sides change places. (ParPaRaw, section 3.1, with two states told apart by parity, as in Langdale and Lemire,
// "Parsing gigabytes of JSON per second".) In one launch with look-back a tile waited for those before it: half the
// rate (docs/decisions/0014).
//
// Bytes moved: the text once; a tile writes 40 bytes, or 80.
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
using Tallies = PlainTallies<threads, rows, quoted>;

// One tile. False: the text is for another form, and nothing more is to be done.
__device__ __forceinline__ bool tally_tile(const u8* text, u64 bytes, const PlainDialect& dialect, Tally* tallies,
                                           FindTotals* totals, u32 number, u32 tiles) {
    __shared__ Tile staged;
    __shared__ Tallies::Shared shared;
    __shared__ u32 seen;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const i64 first = static_cast<i64>(number) * Tile::bytes - skew;
    const Patterns patterns(dialect);
    if (threadIdx.x == 0) seen = tile::load_relaxed(&totals->flags);
    staged.stage(text, bytes, first, dialect);
    if ((seen & FIND_REDO) != 0) return false;

    Counts counts;
    bool inside = false;
#pragma unroll HR_UNROLL
    for (u32 row = 0; row < rows; ++row) {
        const u32 vector = Tile::vector_of(row);
        const Place place = staged.place(vector);
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
        const Tally tally = Tallies::tally_from(state != 0, staged, shared, first, bytes, patterns);
        if (tile::lane() == 0) tallies[u64{state} * tiles + number] = tally;
    }
    return true;
}

// `tallies`: of each tile from outside quotes and, in the form with quotes, then of each from inside. `other`, where
// not null, is the totals of the form before: this one does nothing unless that one asked for it, so it is launched
// with few blocks, which go through the tiles: 65,536 that end at once took 40 us.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    tally_plain(const u8* text, u64 bytes, PlainDialect dialect, Tally* tallies, FindTotals* totals,
                const FindTotals* other, u32 tiles) {
    if (other != nullptr && (tile::load_relaxed(&other->flags) & FIND_REDO) == 0) return;
    for (u32 number = blockIdx.x; number < tiles; number += gridDim.x) {
        if (number != blockIdx.x) __syncthreads();  // the tile before is still looked at
        if (!tally_tile(text, bytes, dialect, tallies, totals, number, tiles)) return;
    }
}
