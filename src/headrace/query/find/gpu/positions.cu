// Writes the positions of marks and lists in ascending order. A block takes several tiles of marks by a ticket, and a
// warp one of them at a time. Tiles without hits are not read. The number of positions before the block's comes from
// decoupled look-back (block_look_back.cuh). A warp lists positions in shared memory first, so that its stores are
// coalesced.
//
// Bytes moved per hit: 8, and in tiles with hits 1/8 per byte of text, or 2 per hit of a list.
#include "gpu/block/block.cuh"
#include "gpu/block/block_look_back.cuh"
#include "query/find/gpu/find_task.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 tiles = HR_TILES;            // per block
constexpr u32 tile_words = HR_TILE_WORDS;  // words of 32 marks per tile
constexpr u32 warps = threads / tile::lanes;
constexpr u32 rows = tile_words / (4 * tile::lanes);  // vectors of 128 marks per lane and tile
constexpr u32 listed = 1024;                          // positions of a warp's list
constexpr u32 parts = 4;                              // lists of a row that is full
static_assert(tile_words % (4 * tile::lanes) == 0 && tiles <= tile::lanes && listed * parts == 128 * tile::lanes);

using Chain = tile::Chain<u64>;

static __device__ __forceinline__ u32 count_ones(uint4 marks) {
    return static_cast<u32>(__popc(marks.x) + __popc(marks.y) + __popc(marks.z) + __popc(marks.w));
}

// Appends the numbers of the set bits of a word, whose first bit is number `first`.
static __device__ __forceinline__ u16* list_word(u16* to, u32 word, u32 first) {
    for (u32 left = word; left != 0; left &= left - 1) *to++ = static_cast<u16>(first + trailing_zeros(left));
    return to;
}

// Writes the positions of a row of 32 vectors and returns the end. `first`: position of its first mark.
static __device__ __forceinline__ u64* write_row(uint4 marks, u64 first, u64* out, u16 (&list)[listed]) {
    const u32 own = count_ones(marks);
    if (!__any_sync(tile::all_lanes, own != 0)) return out;
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
        for (u32 i = tile::lane(); i < count; i += tile::lanes) out[before + i] = first + list[i];
        __syncwarp();
    }
    return out + total;
}

// Writes the positions of a tile's list. `first`: position of its first mark.
static __device__ __forceinline__ void write_list(const u16* list, u64 first, u64* out, const u64* end) {
#pragma unroll 4
    for (u64* to = out + tile::lane(); to < end; to += tile::lanes) *to = first + list[to - out];
}

// Row 1 of the grid has the marks `more`. `memory`: words for the ticket and each block of each row, which are zero.
extern "C" __global__ void __launch_bounds__(threads)
    write_positions(FoundMarks marks, FoundMarks more, Chain::Word* memory) {
    __shared__ u32 number;
    __shared__ u64 before[tiles + 1];
    __shared__ u16 lists[warps][listed];
    if (blockIdx.y == 1) marks = more;
    Chain chain(memory + blockIdx.y * (gridDim.x + 1));
    if (threadIdx.x == 0) number = chain.take_tile();
    __syncthreads();
    const u64 first = static_cast<u64>(number) * tiles;
    if (tile::warp() == 0) {
        const bool is_tile = tile::lane() < tiles && first + tile::lane() < marks.tiles;
        const u64 own = is_tile ? marks.counts[first + tile::lane()] & ~is_listed : 0;
        const u64 upto = tile::scan_warp<Sum<u64>>(own);
        const u64 total = tile::shuffle(upto, tile::lanes - 1);
        if (tile::lane() == 0) chain.post<Sum<u64>>(number, total);
        const u64 prefix = chain.prefix<Sum<u64>>(number, total);
        if (tile::lane() == 0) before[0] = prefix;
        if (tile::lane() < tiles) before[tile::lane() + 1] = prefix + upto;
    }
    __syncthreads();
#pragma unroll 1
    for (u32 i = tile::warp(); i < tiles; i += warps) {
        if (before[i] == before[i + 1]) continue;
        const u32* const words = marks.words + (first + i) * tile_words;
        u64 position = marks.first + (first + i) * tile_words * 32;
        if ((marks.counts[first + i] & is_listed) != 0) {
            write_list(reinterpret_cast<const u16*>(words), position, marks.positions + before[i],
                       marks.positions + before[i + 1]);
            continue;
        }
        const uint4* const from = reinterpret_cast<const uint4*>(words) + tile::lane();
        uint4 loaded[rows];
#pragma unroll
        for (u32 row = 0; row < rows; ++row) loaded[row] = tile::load_streaming(from + row * tile::lanes);
        u64* to = marks.positions + before[i];
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
            to = write_row(loaded[row], position, to, lists[tile::warp()]);
            position += 128 * tile::lanes;
        }
    }
}
