// Reduces an array to one item (Harris 2007, "Optimizing parallel reduction in CUDA"). Each block reduces adjacent
// tiles in order to one item. The block that ends last combines these items, also in order, so the operator need not
// commute. A counter finds the last block, as in CUDA's threadFenceReduction sample.
//
// Sums of 32-bit items have 64 bits (HR_SOURCE is u32 or i32, HR_ITEM u64): each item is widened before it is added.
//
// Bytes moved per item of width w: w, and two items per block.
#include "gpu/block/block.cuh"
#include "gpu/block/tile_rows.cuh"

using namespace headrace;

using Op = HR_OPERATOR<HR_ITEM>;
using Item = Op::Item;
#ifdef HR_SOURCE
using Source = HR_SOURCE;
#else
using Source = Item;
#endif
constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 tile_items = threads * rows * tile::per_vector<Source>;

// Combines the thread's items of a tile. If the operator does not commute, lane 0 returns those of the warp, in order.
HR_FN Item join_rows(const tile::Rows<Source, rows>& items) {
    Item joined = Op::identity();
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        Item own = static_cast<Item>(items.row[row].item[0]);
#pragma unroll
        for (u32 k = 1; k < tile::per_vector<Source>; ++k) {
            own = Op::join(own, static_cast<Item>(items.row[row].item[k]));
        }
        if constexpr (!Op::commutes) own = tile::reduce_warp<Op>(own);
        joined = Op::join(joined, own);
    }
    return joined;
}

// Combines all items; thread 0 has the result.
HR_FN Item join_tiles(const Source* in, i64 count, i64 first, i64 last, Item (&totals)[threads / tile::lanes]) {
    Item joined = Op::identity();
    for (i64 number = first; number < last; ++number) {
        const i64 left = count - number * tile_items;
        tile::Rows<Source, rows> items;
        tile::load_rows(items, in + number * tile_items, left, left >= tile_items && tile::aligned(in),
                        static_cast<Source>(Op::identity()));
        Item own = join_rows(items);
        if constexpr (!Op::commutes) {
            if (tile::lane() != 0) own = Op::identity();
            own = tile::reduce_block<Op, threads>(own, totals);
            __syncthreads();
        }
        joined = Op::join(joined, own);
    }
    if constexpr (Op::commutes) joined = tile::reduce_block<Op, threads>(joined, totals);
    return joined;
}

// `parts`: one item per block. `finished` is 0 at the start, and again at the end.
extern "C" __global__ void __launch_bounds__(threads)
    reduce(const Source* in, i64 count, Item* parts, u32* finished, Item* result) {
    __shared__ Item totals[threads / tile::lanes];
    __shared__ bool is_last;
    const i64 tiles = (count + tile_items - 1) / tile_items;
    const Item own =
        join_tiles(in, count, tiles * blockIdx.x / gridDim.x, tiles * (blockIdx.x + 1) / gridDim.x, totals);
    if (threadIdx.x == 0) {
        using Word = tile::Word<Item>;
        tile::store_relaxed(reinterpret_cast<Word*>(parts) + blockIdx.x, bits_as<Word>(own));
        __threadfence();
        is_last = atomicAdd(finished, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!is_last) return;
    const u32 share = (gridDim.x + threads - 1) / threads;
    Item joined = Op::identity();
    for (u32 i = threadIdx.x * share; i < (threadIdx.x + 1) * share && i < gridDim.x; ++i) {
        using Word = tile::Word<Item>;
        joined = Op::join(joined, bits_as<Item>(tile::load_relaxed(reinterpret_cast<const Word*>(parts) + i)));
    }
    joined = tile::reduce_block<Op, threads>(joined, totals);
    if (threadIdx.x == 0) {
        *result = joined;
        *finished = 0;
    }
}
