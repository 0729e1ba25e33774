// Scan of an array in one pass: a block loads a tile into registers, scans it there, learns by look-back what all tiles
// before it come to, and stores. (Merrill and Garland 2016, "Single-pass parallel prefix scan with decoupled
// look-back".) Items keep their order, so the operator need not commute.
//
// Bytes moved per item of width w: 2 w, and for each tile a state of 8 or 16 bytes.
#include "core/tile/block.cuh"
#include "core/tile/look_back.cuh"
#include "core/tile/rows.cuh"

using namespace headrace;

using Op = HR_OPERATOR<HR_ITEM>;
using Item = Op::Item;
constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 tile_items = threads * rows * tile::per_vector<Item>;

// `memory`: a word for the ticket and one for each tile, all zero. `exclusive`: item i of the result joins the items
// before i, otherwise i too. `out` may not overlap `in`.
extern "C" __global__ void __launch_bounds__(threads)
    scan(const Item* in, Item* out, i64 count, tile::LookBack<Item>::Word* memory, u32 exclusive) {
    __shared__ Item totals[threads / tile::lanes];
    __shared__ u32 taken;
    __shared__ Item tiles_before;
    tile::LookBack<Item> look_back(memory);
    if (threadIdx.x == 0) taken = look_back.take_tile();
    __syncthreads();
    const u32 number = taken;
    const i64 begin = static_cast<i64>(number) * tile_items;
    const i64 left = count - begin;
    const bool whole = left >= tile_items && tile::aligned(in, out);

    tile::Rows<Item, rows> items;
    tile::load_rows(items, in + begin, left, whole, Op::identity());

    // What the lanes before this one come to in each row, and then what the rows before it do.
    Item lane_before[rows];
    Item row_before[rows];
    Item own[rows];
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        own[row] = items.row[row].item[0];
#pragma unroll
        for (u32 k = 1; k < tile::per_vector<Item>; ++k) own[row] = Op::join(own[row], items.row[row].item[k]);
        own[row] = tile::scan_warp<Op>(own[row]);
    }
    Item warp_total = Op::identity();
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        lane_before[row] = tile::shuffle_up(own[row], 1);
        if (tile::lane() == 0) lane_before[row] = Op::identity();
        row_before[row] = warp_total;
        warp_total = Op::join(warp_total, tile::shuffle(own[row], tile::lanes - 1));
    }

    const tile::Before<Item> block = tile::scan_warps<Op, threads>(warp_total, totals);
    if (tile::warp() == 0) {
        const Item before = look_back.prefix<Op>(number, block.total);
        if (tile::lane() == 0) tiles_before = before;
    }
    __syncthreads();
    const Item warp_before = Op::join(tiles_before, block.before);
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        Item before = Op::join(Op::join(warp_before, row_before[row]), lane_before[row]);
        tile::Vector<Item> result;
#pragma unroll
        for (u32 k = 0; k < tile::per_vector<Item>; ++k) {
            const Item after = Op::join(before, items.row[row].item[k]);
            result.item[k] = exclusive ? before : after;
            before = after;
        }
        tile::store_row<Item, rows>(result, row, out + begin, left, whole);
    }
}
