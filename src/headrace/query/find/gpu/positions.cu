// Writes the positions of marks in ascending order. A block takes several tiles of marks by a ticket. Tiles without
// hits are not read. The number of positions before the block's comes from decoupled look-back (block_look_back.cuh).
//
// Bytes moved per hit: 8, and 1/8 per byte of text of tiles with hits.
#include "gpu/block/block.cuh"
#include "gpu/block/block_look_back.cuh"
#include "query/find/gpu/find_task.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 tiles = HR_TILES;            // per block
constexpr u32 tile_words = HR_TILE_WORDS;  // words of 32 marks per tile
static_assert(tile_words % threads == 0 && tiles <= tile::lanes);

using Chain = tile::Chain<u64>;

// Writes the positions of a tile, of which `before` are before it.
static __device__ __forceinline__ void write_tile(const u32* words, u64 first, u64* out,
                                                  u32 (&totals)[threads / tile::lanes]) {
#pragma unroll 1
    for (u32 begin = 0; begin < tile_words; begin += threads) {
        const u32 at = begin + threadIdx.x;
        const u32 word = words[at];
        const u32 own = static_cast<u32>(__popc(word));
        const u32 upto = tile::scan_warp<Sum<u32>>(own);
        const tile::WarpPrefix<u32> others =
            tile::scan_warps<Sum<u32>, threads>(tile::shuffle(upto, tile::lanes - 1), totals);
        u64* to = out + others.before + upto - own;
        for (u32 left = word; left != 0; left &= left - 1)
            *to++ = first + static_cast<u64>(at) * 32 + static_cast<u64>(trailing_zeros(left));
        out += others.total;
        __syncthreads();
    }
}

// `memory`: words for the ticket and each block, which are zero.
extern "C" __global__ void __launch_bounds__(threads) write_positions(FoundMarks marks, Chain::Word* memory, u64* out) {
    __shared__ u32 number, counts[tiles], totals[threads / tile::lanes];
    __shared__ u64 before;
    Chain chain(memory);
    if (threadIdx.x == 0) number = chain.take_tile();
    __syncthreads();
    const u64 first = static_cast<u64>(number) * tiles;
    if (tile::warp() == 0) {
        const u32 own =
            tile::lane() < tiles && first + tile::lane() < marks.tiles ? marks.counts[first + tile::lane()] : 0;
        const u64 total = tile::shuffle(tile::reduce_warp<Sum<u64>>(u64{own}), 0);
        if (tile::lane() == 0) chain.post<Sum<u64>>(number, total);
        const u64 prefix = chain.prefix<Sum<u64>>(number, total);
        if (tile::lane() == 0) before = prefix;
        if (tile::lane() < tiles) counts[tile::lane()] = own;
    }
    __syncthreads();
    u64* to = out + before;
#pragma unroll 1
    for (u32 i = 0; i < tiles; ++i) {
        if (counts[i] == 0) continue;
        const u64 tile = first + i;
        write_tile(marks.words + tile * tile_words, marks.first + tile * tile_words * 32, to, totals);
        to += counts[i];
    }
}
