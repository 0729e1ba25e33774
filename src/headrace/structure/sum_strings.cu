// How many bytes each tile of a plain dialect's text has of each column of strings, quotes that enclose left out: what
// the conversion will copy from it (string_sums.cuh). A second reading of the text, once it is known where the tiles
// begin. A scan of all sums as one array then tells where the bytes of a tile go in its column.
//
// Bytes moved: the text once; a tile writes 8 bytes for each column of strings.
#include "structure/plain_tile.cuh"
#include "structure/string_sums.cuh"

using namespace headrace;
using namespace headrace::structure;

constexpr bool quoted = HR_QUOTED;
constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
using Tile = PlainTile<threads, rows>;
// The list takes the text's place once that has become marks; where a tile has more ends, they are listed in turns.
using List = EndList<Tile::bytes / 2 - 64, threads>;
static_assert(sizeof(List) <= sizeof(Tile));

// `there`: which of the vector's bytes are the text's. `quotes` and `inside` where there may be quotes.
__device__ __forceinline__ Marks marks_of(const Place& place, const Patterns& patterns, const tile::Bits& quotes,
                                          const tile::Bits& inside, u32 there) {
    Masks masks;
    tile::Bits dropped = {};
    if (find_ends(masks, place, patterns)) {
        settle_runs(masks, place, patterns);
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
            const u32 outside = quoted ? ~inside.word[k] : ~0u;
            dropped.word[k] = (masks.line_ends.word[k] & ~masks.records.word[k]) & outside;
        }
    }
    if constexpr (quoted) {
        u32 quote_before = place.before == (patterns.quote & 0xFF) ? tile::top_bits : 0;
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
            // The second of two quotes within quotes is text: it opens, and stands behind one that closes.
            const u32 behind_quote = tile::behind(quote_before, quotes.word[k]);
            dropped.word[k] |= quotes.word[k] & ~(inside.word[k] & behind_quote & patterns.doubles);
            quote_before = quotes.word[k];
            masks.separators.word[k] &= ~inside.word[k];
            masks.records.word[k] &= ~inside.word[k];
        }
    }
    const u32 ends = (tile::gathered(masks.separators) & there) | (tile::gathered(masks.records) & there) << 16;
    return {ends, tile::gathered(dropped) | (~there & 0xFFFF)};
}

// `entries`: as scan_tiles wrote them. `sums`: for each column of strings the bytes of each tile, and a 0; right where
// no quote is a stray.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    sum_strings(const u8* text, u64 bytes, PlainDialect dialect, const TileEntry* entries, StringColumns strings,
                u64* sums) {
    __shared__ Tile staged;
    __shared__ u32 words[threads / tile::lanes];
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const u32 number = blockIdx.x;
    const i64 first = static_cast<i64>(number) * Tile::bytes - skew;
    const Patterns patterns(dialect);
    const TileEntry entry = entries[number];
    staged.stage(text, bytes, first, dialect);

    bool inside = entry.state != 0;
    if constexpr (quoted) {
        bool odd = false;
#pragma unroll 1
        for (u32 row = 0; row < rows; ++row)
            odd ^= Parities(find_byte(staged.place(Tile::vector_of(row)), patterns.quote)).all();
        inside ^= (tile::scan_warps<Sum<u32>, threads>(static_cast<u32>(odd), words).before & 1) != 0;
        __syncthreads();
    }
    Marks marks[rows];
    u32 ends = 0;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        const u32 vector = Tile::vector_of(row);
        const Place place = staged.place(vector);
        const u32 there = Tile::is_inner(first, bytes) ? 0xFFFF : bytes_there(first + vector * 16, bytes);
        tile::Bits quotes, within;
        if constexpr (quoted) {
            quotes = find_byte(place, patterns.quote);
            const Parities parities(quotes);
            within = find_inside(quotes, inside != parities.before());
            inside = inside != parities.all();
        }
        marks[row] = marks_of(place, patterns, quotes, within, there);
        ends += static_cast<u32>(__popc(marks[row].ends & 0xFFFF)) | static_cast<u32>(__popc(marks[row].ends >> 16))
                                                                         << 16;
    }
    const tile::Before<u32> both = tile::scan_warps<Sum<u32>, threads>(__reduce_add_sync(tile::all_lanes, ends), words);
    const u32 before = (both.before & 0xFFFF) + (both.before >> 16), records = both.total >> 16;
    List& list = *reinterpret_cast<List*>(&staged);
    sum_strings_of(list, marks,
                   {before, (both.total & 0xFFFF) + records, records, entry.column, Tile::bytes, sums + number},
                   strings);
    if (number + 1 == gridDim.x) {
        for (u32 slot = threadIdx.x; slot < strings.strings; slot += threads)
            sums[u64{slot} * strings.stride + gridDim.x] = 0;
    }
}
