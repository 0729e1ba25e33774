// The items whose flag is set, in their order, and how many they are. A thread counts 16 flags; the block lists the
// places of those that are set in shared memory, learns by look-back how many come before, and then gathers and stores
// in the order of the list, so that stores are coalesced and only memory near a selected item is read. (Stream
// compaction by scan: Blelloch 1990, section 1.4; in one pass: Merrill and Garland 2016.)
//
// Bytes moved per item of width w, a share s of them selected: 1 + 2 s w.
#include "core/tile/block.cuh"
#include "core/tile/look_back.cuh"
#include "core/tile/rows.cuh"

using namespace headrace;

template <int width>
struct ItemOf {
    using type = uint4;
};
template <>
struct ItemOf<1> {
    using type = u8;
};
template <>
struct ItemOf<2> {
    using type = u16;
};
template <>
struct ItemOf<4> {
    using type = u32;
};
template <>
struct ItemOf<8> {
    using type = u64;
};
using Item = ItemOf<HR_WIDTH>::type;
constexpr u32 threads = HR_THREADS;
constexpr u32 flags_per_thread = 16;
constexpr u32 tile_items = threads * flags_per_thread;
constexpr u32 batch = HR_WIDTH <= 4 ? flags_per_thread : 64 / HR_WIDTH;  // items that a thread holds at a time

// `memory`: a word for the ticket and one for each tile, all zero.
extern "C" __global__ void __launch_bounds__(threads)
    select_items(const Item* in, const u8* flags, Item* out, u64 count, u64* memory, u64* selected) {
    __shared__ u32 totals[threads / tile::lanes];
    __shared__ u16 places[tile_items];
    __shared__ u32 taken;
    __shared__ u64 tiles_before;
    tile::LookBack<u64> look_back(reinterpret_cast<tile::Wide*>(memory));
    if (threadIdx.x == 0) taken = look_back.take_tile();
    __syncthreads();
    const u32 number = taken;
    const u64 begin = static_cast<u64>(number) * tile_items;
    const u32 left = count - begin < tile_items ? static_cast<u32>(count - begin) : tile_items;
    const u32 first = threadIdx.x * flags_per_thread;

    tile::Vector<u8> mine;
    if (left == tile_items && tile::aligned(flags)) {
        mine = bits_as<tile::Vector<u8>>(tile::load_streaming(reinterpret_cast<const uint4*>(flags + begin + first)));
    } else {
#pragma unroll
        for (u32 k = 0; k < flags_per_thread; ++k) mine.item[k] = first + k < left ? flags[begin + first + k] : 0;
    }
    u32 own = 0;
#pragma unroll
    for (u32 k = 0; k < flags_per_thread; ++k) own += mine.item[k] != 0;
    const u32 joined = tile::scan_warp<Sum<u32>>(own);
    const tile::Before<u32> block = tile::scan_warps<Sum<u32>, threads>(tile::shuffle(joined, tile::lanes - 1), totals);
    u32 place = block.before + joined - own;
#pragma unroll
    for (u32 k = 0; k < flags_per_thread; ++k) {
        if (mine.item[k] != 0) places[place++] = static_cast<u16>(first + k);
    }
    if (threadIdx.x == 0) look_back.post<Sum<u64>>(number, block.total);
    __syncthreads();
    // The first items are on their way while this tile waits for those before it.
    Item held[batch];
#pragma unroll
    for (u32 k = 0; k < batch; ++k) {
        const u32 i = threadIdx.x + k * threads;
        if (i < block.total) held[k] = in[begin + places[i]];
    }
    if (tile::warp() == 0) {
        const u64 before = look_back.prefix<Sum<u64>>(number, static_cast<u64>(block.total));
        if (tile::lane() == 0) {
            tiles_before = before;
            if (begin + left == count) *selected = before + block.total;
        }
    }
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < batch; ++k) {
        const u32 i = threadIdx.x + k * threads;
        if (i < block.total) out[tiles_before + i] = held[k];
    }
    for (u32 i = threadIdx.x + batch * threads; i < block.total; i += threads)
        out[tiles_before + i] = in[begin + places[i]];
}
