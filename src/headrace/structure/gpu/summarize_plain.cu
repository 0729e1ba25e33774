// Summarizes each tile of a plain dialect's text: records, separators, and where the record and the field that are open
// at its end began. One block reads one tile, whose bytes become bit masks (word_summary.cuh), and waits for no other
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
#include "structure/gpu/word_summary.cuh"

using namespace headrace;
using namespace headrace::structure;

constexpr bool quoted = HR_QUOTED;
constexpr u32 threads = HR_THREADS;
constexpr u32 vectors = threads * HR_ROWS;
constexpr u32 tile_bytes = vectors * 16;
constexpr u32 tile_words = tile_bytes / 32;
constexpr u32 halo_words = 4;  // bytes before the tile, of which the last one counts; as many words as are aligned
constexpr u32 warps = threads / tile::lanes;
using Tallies = WordSummaries<threads, tile_words, quoted>;

struct PlainMemory {
    alignas(16) u32 separators[halo_words + tile_words];
    alignas(16) u32 lines[halo_words + tile_words];
    alignas(16) u32 quotes[quoted ? halo_words + tile_words : 1];
    alignas(16) u32 records[tile_words];
    alignas(16) u32 inside[quoted ? tile_words : 1];
    Tallies::WordWarpCounts shared;
    u32 seen;
};

// Makes the masks of the tile whose first byte is `first`, and of the byte before it. Returns what the bytes are.
HR_FN PlainBytes note_tile(const WordTile& words, const u8* text, u64 bytes, i64 first, const PlainDialect& dialect) {
    const Patterns patterns(dialect);
    PlainBytes read;
    const auto note = [&](u32 vector, uint4 own) {
        note_vector<quoted>(words, static_cast<i32>(vector), own, patterns, read);
        if (dialect.flags & PLAIN_WATCHES) watch(read, own, dialect);
    };
    note_vectors<vectors, threads, HR_UNROLL>(text, bytes, first, dialect.other, note);
    if (threadIdx.x == 0) {
        const u8 before = first > 0 ? text[first - 1] : dialect.other;
        words.separators[-1] = before == dialect.separator ? 1u << 31 : 0;
        words.lines[-1] = patterns.ends_line(before) ? 1u << 31 : 0;
        if constexpr (quoted) words.quotes[-1] = before == dialect.quote ? 1u << 31 : 0;
    }
    return read;
}

// Summarizes tile `number`. Returns false if another variant has to read the text, so that the block can stop.
HR_FN bool tally_tile(const u8* text, u64 bytes, const PlainDialect& dialect, TileSummary* tallies, FindTotals* totals,
                      u32 number, u32 tiles) {
    __shared__ PlainMemory memory;
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const i64 first = static_cast<i64>(number) * tile_bytes - skew;
    const i64 left = static_cast<i64>(bytes) - first;
    const WordTile words{memory.separators + halo_words, memory.lines + halo_words,
                         quoted ? memory.quotes + halo_words : nullptr, memory.records, memory.inside};
    const Tallies::Where where{text, first, static_cast<u32>(min(left, i64{tile_bytes}))};
    const Patterns patterns(dialect);
    if (threadIdx.x == 0) memory.seen = tile::load_relaxed(&totals->flags);
    const PlainBytes read = note_tile(words, text, bytes, first, dialect);
    __syncthreads();
    if ((memory.seen & FIND_REDO) != 0) return false;

    const Tallies::Own own = Tallies::share(memory.shared, words, where, patterns);
    add_found(totals, found_in(read, dialect));
    __syncthreads();
    const Tallies::Sides sides(memory.shared);
    if constexpr (quoted) {
        u32 inside[Tallies::own];
#pragma unroll
        for (u32 i = 0; i < Tallies::own; ++i) inside[i] = own.inside[i] ^ (sides.turned() ? ~0u : 0);
        tile::store_part<tile_words>(memory.inside, threadIdx.x * Tallies::own, inside);
        __syncthreads();
    }
    for (u32 state = tile::warp(); state < Tallies::states; state += warps) {
        const TileSummary tally = Tallies::summary_from(state != 0, words, memory.shared, sides, where, patterns);
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
