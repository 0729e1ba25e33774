// Sums floats in the order of primitives/float_sum.hpp.
//
// A warp sums a piece. Each of its lanes has 16 bytes of adjacent items per row, and so the same lanes of the piece in
// every row. The piece's lanes are added by halves with shuffles. The last block to end of those that share 4,096
// pieces adds up their sums. The last of these blocks adds up the remaining sums, so one launch suffices.
//
// Bytes moved per item of width w: w, and two items per piece.
#include "gpu/block/tile_rows.cuh"
#include "primitives/float_sum.hpp"

using namespace headrace;

using Item = HR_ITEM;
using Word = tile::Word<Item>;
constexpr u32 threads = HR_THREADS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 width = tile::per_vector<Item>;
constexpr u32 held = SumOrder::lanes / tile::lanes / width;  // vectors with a sum for each of this thread's lanes
constexpr u32 row_items = tile::lanes * width;
constexpr u32 batch = HR_ROWS;  // rows in flight at a time
static_assert(SumOrder::piece % (row_items * batch) == 0 && batch % held == 0 && SumOrder::piece % warps == 0);

// Loads rows of a piece, of which the first `there` items exist; `shared`: other blocks wrote them. There is one branch
// for all rows, so that their loads are in flight together.
template <bool shared>
HR_FN void load(tile::Vector<Item> (&rows)[batch], const Item* piece, i64 there, u32 first, bool whole) {
    const u32 begin = first * row_items + tile::lane() * width;
    if (whole) {
#pragma unroll
        for (u32 row = 0; row < batch; ++row) {
            const Item* const at = piece + begin + row * row_items;
            if constexpr (shared) {
                rows[row] =
                    bits_as<tile::Vector<Item>>(tile::load_relaxed(reinterpret_cast<const tile::WordPair*>(at)));
            } else {
                rows[row] = bits_as<tile::Vector<Item>>(tile::load_streaming(reinterpret_cast<const uint4*>(at)));
            }
        }
        return;
    }
#pragma unroll
    for (u32 row = 0; row < batch; ++row) {
#pragma unroll
        for (u32 k = 0; k < width; ++k) {
            const u32 at = begin + row * row_items + k;
            rows[row].item[k] = no_float<Item>();
            if (at < there) {
                rows[row].item[k] =
                    shared ? bits_as<Item>(tile::load_relaxed(reinterpret_cast<const Word*>(piece + at))) : piece[at];
            }
        }
    }
}

// Returns the sum of a piece in lane 0.
template <bool shared>
HR_FN Item sum_piece(const Item* piece, i64 there, bool aligned) {
    const bool whole = aligned && there >= SumOrder::piece;
    tile::Vector<Item> sums[held];
#pragma unroll
    for (u32 i = 0; i < held; ++i) {
#pragma unroll
        for (u32 k = 0; k < width; ++k) sums[i].item[k] = no_float<Item>();
    }
    const u32 rows =
        there >= SumOrder::piece ? SumOrder::piece / row_items : (static_cast<u32>(there) + row_items - 1) / row_items;
    for (u32 row = 0; row < rows; row += batch) {
        tile::Vector<Item> items[batch];
        load<shared>(items, piece, there, row, whole);
#pragma unroll
        for (u32 i = 0; i < batch; ++i) {
#pragma unroll
            for (u32 k = 0; k < width; ++k) sums[i % held].item[k] += items[i].item[k];
        }
    }
#pragma unroll
    for (u32 half = held / 2; half > 0; half /= 2) {
#pragma unroll
        for (u32 i = 0; i < half; ++i) {
#pragma unroll
            for (u32 k = 0; k < width; ++k) sums[i].item[k] += sums[i + half].item[k];
        }
    }
#pragma unroll
    for (u32 distance = tile::lanes / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (u32 k = 0; k < width; ++k) sums[0].item[k] += tile::shuffle_down(sums[0].item[k], distance);
    }
#pragma unroll
    for (u32 half = width / 2; half > 0; half /= 2) {
#pragma unroll
        for (u32 k = 0; k < half; ++k) sums[0].item[k] += sums[0].item[k + half];
    }
    return sums[0].item[0];
}

HR_FN void post(Item* to, Item sum) { tile::store_relaxed(reinterpret_cast<Word*>(to), bits_as<Word>(sum)); }

HR_FN i64 at_most(i64 a, i64 b) { return a < b ? a : b; }

// Returns to the whole block whether it is the last of `all` arrivals; if so, the stores of all others are visible.
HR_FN bool is_last(u32* ended, u32 all, bool& is_last_block) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        is_last_block = atomicInc(ended, all - 1) == all - 1;
        __threadfence();
    }
    __syncthreads();
    return is_last_block;
}

// `pieces`: one item per piece of level 1, their number rounded up to a multiple of 4, then one per piece of level 2.
// `ended`: one word per piece of level 2 and one more, 0 at the start and again at the end. 1 to 2^36 items; one block
// per `threads` / 32 pieces.
extern "C" __global__ void __launch_bounds__(threads)
    float_sum(const Item* in, i64 count, Item* pieces, u32* ended, Item* result) {
    __shared__ bool is_last_block;
    constexpr i64 piece = SumOrder::piece;
    const i64 firsts = (count + piece - 1) / piece, seconds = (firsts + piece - 1) / piece;
    const i64 mine = static_cast<i64>(blockIdx.x) * warps + tile::warp();
    if (mine < firsts) {
        const Item sum = sum_piece<false>(in + mine * piece, count - mine * piece, tile::aligned(in));
        if (tile::lane() == 0) post(pieces + mine, sum);
    }
    const i64 second = static_cast<i64>(blockIdx.x) * warps / piece;
    const i64 here = at_most(firsts - second * piece, piece);
    if (!is_last(&ended[second], static_cast<u32>((here + warps - 1) / warps), is_last_block)) return;
    Item* const sums = pieces + (firsts + 3) / 4 * 4;
    if (tile::warp() == 0) {
        const Item sum = sum_piece<true>(pieces + second * piece, here, true);
        if (tile::lane() == 0) {
            post(sums + second, sum);
            if (seconds == 1) *result = one_nan(sum);
        }
    }
    if (seconds == 1 || !is_last(&ended[seconds], static_cast<u32>(seconds), is_last_block)) return;
    if (tile::warp() == 0) {
        const Item sum = sum_piece<true>(sums, seconds, true);
        if (tile::lane() == 0) *result = one_nan(sum);
    }
}
