// Scan of an array in one pass, by blocks that stay. A tile goes through a ring of shared memory: `ahead` tiles are on
// their way from device memory, one is scanned in place, and `slack` scanned ones wait until it is known what all tiles
// before them come to; then they are stored. A warp of its own posts totals and looks back, so that its round trips to
// memory are nobody else's. (Merrill and Garland 2016, "Single-pass parallel prefix scan with decoupled look-back".)
// Items keep their order, so the operator need not commute.
//
// Why so: without look-back every shape of this kernel and of a plain one reaches the rate of a copy
// (bench/results/h200/ 2026-11-21-scan-shapes.md). What is lost is the wait for the slowest of the tiles before, so a
// tile must be able to wait while others move. Forward progress: a block posts a tile's total before it waits for any
// tile before it.
//
// Bytes moved per item of width w: 2 w, and for each tile a state of 8 or 16 bytes.
#include "core/tile/look_back.cuh"
#include "core/tile/rows.cuh"

using namespace headrace;

using Op = HR_OPERATOR<HR_ITEM>;
using Item = Op::Item;
using Vector = tile::Vector<Item>;
constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 ahead = HR_AHEAD;
constexpr u32 slack = HR_SLACK;
constexpr u32 stages = ahead + slack + 1;
constexpr u32 tile_items = threads * rows * tile::per_vector<Item>;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 none = ~0u;
static_assert(slack >= 1 && ahead < tile::lanes);

// Starts to load a tile's part of this thread.
__device__ __forceinline__ void fetch(Vector* mine, const Item* in, i64 left, bool whole) {
    if (whole) {
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
            tile::copy_async(reinterpret_cast<uint4*>(&mine[row * threads]),
                             reinterpret_cast<const uint4*>(in + tile::row_begin<Item, rows>(row)));
        }
    } else {
        tile::Rows<Item, rows> items;
        tile::load_rows(items, in, left, false, Op::identity());
#pragma unroll
        for (u32 row = 0; row < rows; ++row) mine[row * threads] = items.row[row];
    }
}

// Scans a warp's part of a tile in place and returns what it comes to.
__device__ __forceinline__ Item scan_part(Vector* mine, bool exclusive) {
    tile::Rows<Item, rows> items;
    Item upto[rows];
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        items.row[row] = mine[row * threads];
        upto[row] = items.row[row].item[0];
#pragma unroll
        for (u32 k = 1; k < tile::per_vector<Item>; ++k) upto[row] = Op::join(upto[row], items.row[row].item[k]);
        upto[row] = tile::scan_warp<Op>(upto[row]);
    }
    Item total = Op::identity();
#pragma unroll
    for (u32 row = 0; row < rows; ++row) {
        const Item lanes_before = tile::shuffle_up(upto[row], 1);
        Item before = tile::lane() == 0 ? total : Op::join(total, lanes_before);
        total = Op::join(total, tile::shuffle(upto[row], tile::lanes - 1));
#pragma unroll
        for (u32 k = 0; k < tile::per_vector<Item>; ++k) {
            const Item after = Op::join(before, items.row[row].item[k]);
            items.row[row].item[k] = exclusive ? before : after;
            before = after;
        }
        mine[row * threads] = items.row[row];
    }
    return total;
}

// `memory`: a word for the ticket and one for each tile, all zero. `exclusive`: item i of the result joins the items
// before i, otherwise i too. `out` may not overlap `in`. Blocks of `threads` + 32 threads, as many as fit.
extern "C" __global__ void __launch_bounds__(threads + tile::lanes)
    scan(const Item* in, Item* out, i64 count, tile::LookBack<Item>::Word* memory, u32 exclusive) {
    HR_DYNAMIC_SHARED(Vector, shared);
    __shared__ Item totals[slack + 1][warps];
    __shared__ Item warps_before[2][warps];
    __shared__ u32 taken[ahead + 2];
    tile::LookBack<Item> look_back(memory);
    const u32 tiles = static_cast<u32>((count + tile_items - 1) / tile_items);
    const bool vectors = tile::aligned(in, out);
    const bool looks_back = tile::warp() == warps;
    constexpr u32 stage_vectors = threads * rows;
    Vector* const mine = shared + threadIdx.x;

    if (threadIdx.x == 0) {
#pragma unroll
        for (u32 i = 0; i <= ahead; ++i) taken[i] = look_back.take_tile();
    }
    __syncthreads();
    // Of the tiles in flight, the oldest first: `slack` whose totals are known, one to scan, `ahead` on their way.
    u32 number[stages];
#pragma unroll
    for (u32 i = 0; i < stages; ++i) number[i] = i < slack ? none : taken[i - slack];
    __syncthreads();
    u32 fresh = 0, current = 0, oldest = ahead + 1;  // their places in shared memory
#pragma unroll
    for (u32 i = slack; i + 1 < stages; ++i) {
        const i64 begin = static_cast<i64>(number[i]) * tile_items;
        if (!looks_back) {
            if (number[i] < tiles)
                fetch(mine + fresh * stage_vectors, in + begin, count - begin, vectors && count - begin >= tile_items);
            tile::commit_copies();
        }
        ++fresh;
    }
    u32 turn = 0, parity = 0;
    while (true) {
        const u32 last = number[0];
        const u32 after_turn = turn == slack ? 0 : turn + 1;
        if (looks_back) {
            const u32 known = number[slack - 1];
            if (known < tiles) {
                const Item total = tile::reduce_warp<Op>(
                    tile::lane() < warps ? totals[turn == 0 ? slack : turn - 1][tile::lane()] : Op::identity());
                if (tile::lane() == 0) look_back.post<Op>(known, total);
            }
            if (last < tiles) {
                const Item joined =
                    tile::scan_warp<Op>(tile::lane() < warps ? totals[after_turn][tile::lane()] : Op::identity());
                Item before = tile::shuffle_up(joined, 1);
                if (tile::lane() == 0) before = Op::identity();
                const Item prefix = look_back.prefix<Op>(last, tile::shuffle(joined, warps - 1));
                if (tile::lane() < warps) warps_before[parity][tile::lane()] = Op::join(prefix, before);
            }
            // As late as it can be: a tile that is taken and not yet read keeps all later ones waiting.
            if (tile::lane() == 0) taken[parity] = look_back.take_tile();
        } else {
            if (number[stages - 1] < tiles) {
                const i64 begin = static_cast<i64>(number[stages - 1]) * tile_items;
                fetch(mine + fresh * stage_vectors, in + begin, count - begin, vectors && count - begin >= tile_items);
            }
            tile::commit_copies();
            tile::wait_for_copies<ahead>();
            if (number[slack] < tiles) {
                const Item total = scan_part(mine + current * stage_vectors, exclusive != 0);
                if (tile::lane() == 0) totals[turn][tile::warp()] = total;
            }
        }
        __syncthreads();
        if (last < tiles) {
            if (!looks_back) {
                const Item before = warps_before[parity][tile::warp()];
                const i64 begin = static_cast<i64>(last) * tile_items;
                const i64 left = count - begin;
                const bool whole = vectors && left >= tile_items;
#pragma unroll
                for (u32 row = 0; row < rows; ++row) {
                    Vector result = mine[oldest * stage_vectors + row * threads];
#pragma unroll
                    for (u32 k = 0; k < tile::per_vector<Item>; ++k) result.item[k] = Op::join(before, result.item[k]);
                    tile::store_row<Item, rows>(result, row, out + begin, left, whole);
                }
            }
        } else if (last != none) {
            return;
        }
#pragma unroll
        for (u32 i = 0; i + 1 < stages; ++i) number[i] = number[i + 1];
        number[stages - 1] = taken[parity];
        turn = after_turn;
        parity ^= 1;
        fresh = fresh + 1 == stages ? 0 : fresh + 1;
        current = current + 1 == stages ? 0 : current + 1;
        oldest = oldest + 1 == stages ? 0 : oldest + 1;
    }
}
