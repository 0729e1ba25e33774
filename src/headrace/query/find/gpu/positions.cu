// Writes the positions of marks and lists in ascending order. A block takes several tiles. Its warps take turns with
// the rows of their marks, so that they write neighbouring positions at about the same time. A list is written by one
// warp. Tiles without hits are not read. A first launch adds the hits of groups of tiles. So a block adds the groups
// before it and the tiles before it in its own group, and waits for no other block. A warp lists positions in shared
// memory first, so that its stores are coalesced.
//
// Bytes moved per hit: 8, and in tiles with hits 1/8 per byte of text, or 1 per hit of a list.
#include "gpu/block/block.cuh"
#include "gpu/block/memory_access.cuh"
#include "query/find/gpu/find_task.hpp"
#include "query/find/gpu/hit_list.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 tiles = HR_TILES;            // per block
constexpr u32 tile_words = HR_TILE_WORDS;  // words of 32 marks per tile
constexpr u32 warps = threads / tile::lanes;
constexpr u32 rows = tile_words / (4 * tile::lanes);  // vectors of 128 marks per lane and tile
constexpr u32 listed = 1024;                          // positions of a warp's list
constexpr u32 parts = 4;                              // lists of a row that is full
constexpr u32 row_positions = 128 * tile::lanes;
constexpr u32 rows_each = tiles * rows / warps;  // rows of a block that a warp takes
static_assert(tile_words % (4 * tile::lanes) == 0 && tiles <= tile::lanes && listed * parts == row_positions);
static_assert(rows <= tile::lanes && tiles * rows % warps == 0);

union WarpMemory {
    u16 positions[listed];
    ListMemory<warps, tile_words * 32> list;
};

HR_FN u32 hits_of(const FoundMarks& marks, u64 tile) {
    return tile < marks.tiles ? marks.counts[tile] & ~is_listed : 0;
}

HR_FN u32 count_ones(uint4 marks) {
    return static_cast<u32>(__popc(marks.x) + __popc(marks.y) + __popc(marks.z) + __popc(marks.w));
}

// Appends the numbers of the set bits of a word, whose first bit is number `first`.
HR_FN u16* list_word(u16* to, u32 word, u32 first) {
    for (u32 left = word; left != 0; left &= left - 1) *to++ = static_cast<u16>(first + trailing_zeros(left));
    return to;
}

// Stores the positions of a list, two at a time where they are aligned.
HR_FN void store_list(const u16* list, u32 count, u64 first, u64* out) {
    const u32 odd = static_cast<u32>(reinterpret_cast<u64>(out) >> 3) & 1;
    if (odd != 0 && count != 0 && tile::lane() == 0) out[0] = first + list[0];
    u32 i = odd + 2 * tile::lane();
#pragma unroll 2
    for (; i + 1 < count; i += 2 * tile::lanes)
        *reinterpret_cast<ulonglong2*>(out + i) = {first + list[i], first + list[i + 1]};
    if (i + 1 == count) out[i] = first + list[i];
}

// Writes the positions of a row of 32 vectors. `first`: position of its first mark.
HR_FN void write_row(uint4 marks, u64 first, u64* out, u16 (&list)[listed]) {
    const u32 own = count_ones(marks);
    const u32 upto = tile::scan_warp<Sum<u32>>(own);
    const u32 total = tile::shuffle(upto, tile::lanes - 1);
    const u32 lanes_at_once = total <= listed ? tile::lanes : tile::lanes / parts;
#pragma unroll 1
    for (u32 begin = 0; begin < tile::lanes; begin += lanes_at_once) {
        const u32 before = tile::shuffle(upto - own, begin);
        const u32 count = tile::shuffle(upto, begin + lanes_at_once - 1) - before;
        if (tile::lane() >= begin && tile::lane() < begin + lanes_at_once) {
            const u32 bit = tile::lane() * 128;
            u16* to = list + (upto - own - before);
            to = list_word(to, marks.x, bit);
            to = list_word(to, marks.y, bit + 32);
            to = list_word(to, marks.z, bit + 64);
            list_word(to, marks.w, bit + 96);
        }
        __syncwarp();
        store_list(list, count, first, out + before);
        __syncwarp();
    }
}

// Number of the warp's row i among the rows of a block. Warps take turns.
HR_FN u32 row_of(u32 i) { return i * warps + tile::warp(); }

// Loads the warp's rows. `marked`: a bit for each tile that has marks.
HR_FN void load_rows(const u32* words, u32 marked, uint4 (&loaded)[rows_each]) {
#pragma unroll
    for (u32 i = 0; i < rows_each; ++i) {
        const uint4* const from = reinterpret_cast<const uint4*>(words) + row_of(i) * tile::lanes + tile::lane();
        loaded[i] = (marked >> row_of(i) / rows & 1) != 0 ? tile::load_streaming(from) : uint4{0, 0, 0, 0};
    }
}

// Returns the number of hits before a tile in thread 0.
HR_FN u64 hits_before(const FoundMarks& marks, u64 tile, u64 (&totals)[warps]) {
    const u64 groups = tile / threads, near = groups * threads + threadIdx.x;
    u64 own = near < tile ? hits_of(marks, near) : 0;
    for (u64 group = threadIdx.x; group < groups; group += threads) own += marks.sums[group];
    return tile::reduce_block<Sum<u64>, threads>(own, totals);
}

// Writes the number of hits of each group of `threads` tiles. Row 1 of the grid has the marks `more`, here and below.
extern "C" __global__ void __launch_bounds__(threads) sum_tiles(FoundMarks marks, FoundMarks more) {
    __shared__ u64 totals[warps];
    if (blockIdx.y == 1) marks = more;
    const u64 own = hits_of(marks, static_cast<u64>(blockIdx.x) * threads + threadIdx.x);
    const u64 total = tile::reduce_block<Sum<u64>, threads>(own, totals);
    if (threadIdx.x == 0) marks.sums[blockIdx.x] = total;
}

extern "C" __global__ void __launch_bounds__(threads) write_positions(FoundMarks marks, FoundMarks more) {
    __shared__ u64 totals[warps], before[tiles];  // hits before each tile
    __shared__ u32 hits[tiles * rows];            // of each row
    __shared__ WarpMemory memory[warps];
    if (blockIdx.y == 1) marks = more;
    const u64 first = static_cast<u64>(blockIdx.x) * tiles;
    const bool has_tile = tile::lane() < tiles && first + tile::lane() < marks.tiles;
    const u32 count = has_tile ? marks.counts[first + tile::lane()] : 0, own = count & ~is_listed;
    const u32 marked = __ballot_sync(tile::all_lanes, own != 0 && own == count);
    const u32 with_lists = __ballot_sync(tile::all_lanes, own != 0 && own != count);
    if ((marked | with_lists) == 0) return;
    const u32* const words = marks.words + first * tile_words;
    const u64 position = marks.first + first * tile_words * 32;
    uint4 loaded[rows_each];
    load_rows(words, marked, loaded);
    const u64 begin = hits_before(marks, first, totals);
    if (tile::warp() == 0) {
        const u64 upto = tile::shuffle(begin, 0) + tile::scan_warp<Sum<u64>>(own);
        if (tile::lane() < tiles) before[tile::lane()] = upto - own;
    }
#pragma unroll
    for (u32 i = 0; i < rows_each; ++i) {
        const u32 total = __reduce_add_sync(tile::all_lanes, count_ones(loaded[i]));
        if (tile::lane() == 0) hits[row_of(i)] = total;
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < rows_each; ++i) {
        const u32 row = row_of(i), at = row % rows;
        if (hits[row] == 0) continue;
        const u32 preceding = __reduce_add_sync(tile::all_lanes, tile::lane() < at ? hits[row - at + tile::lane()] : 0);
        write_row(loaded[i], position + row * row_positions, marks.positions + before[row / rows] + preceding,
                  memory[tile::warp()].positions);
    }
#pragma unroll 1
    for (u32 i = tile::warp(); i < tiles; i += warps) {
        if ((with_lists >> i & 1) == 0) continue;
        const u32 total = tile::shuffle(own, i);
        write_list(words + i * tile_words, total, position + i * tile_words * 32, marks.positions + before[i],
                   memory[tile::warp()].list);
    }
}
