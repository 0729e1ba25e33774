// Merges the part of two dictionaries that a block has. Each thread finds its begin by a search on the diagonal, and
// walks over its values. (Green, McColl and Bader 2012, GPU Merge Path.)
#pragma once
#include "gpu/block/block.cuh"
#include "gpu/block/block_look_back.cuh"
#include "store/dictionary/rules/merge.hpp"

namespace headrace {

constexpr u32 thread_values = 8;

// Begin and size of a tile in both dictionaries.
struct MergeTile {
    u64 main_begin, delta_begin;
    u32 main_count, delta_count;
    bool is_last;

    __device__ __forceinline__ u32 count() const { return main_count + delta_count; }
};

// `cuts`: the number of main values before each tile, and before the end.
static __device__ __forceinline__ MergeTile tile_of_cuts(const u64* cuts, u64 tile, u64 tile_values, u64 values) {
    const u64 rank = tile * tile_values, end = rank + tile_values < values ? rank + tile_values : values;
    const u64 main_begin = cuts[tile], main_end = cuts[tile + 1];
    return {main_begin, rank - main_begin, static_cast<u32>(main_end - main_begin),
            static_cast<u32>(end - main_end - (rank - main_begin)), end == values};
}

// The values of a thread: their sources, which are numbers in the tile, first those of the main dictionary. A bit of
// `is_new` is set for each value that is no duplicate.
struct ThreadMerge {
    u32 source[thread_values];
    u32 count;
    u32 is_new;
};

// Merges the thread's values. `Pair` has is_main_first(i, k), and has_duplicate(i, k): whether value k of the delta is
// the main value before i; both are numbers in the tile.
template <class Pair>
static __device__ __forceinline__ ThreadMerge merge_values(const Pair& pair, u32 main_count, u32 delta_count) {
    ThreadMerge found{{}, 0, 0};
    const u32 rank = threadIdx.x * thread_values;
    if (rank >= main_count + delta_count) return found;
    u32 i = static_cast<u32>(main_before(pair, main_count, delta_count, rank)), k = rank - i;
#pragma unroll
    for (u32 turn = 0; turn < thread_values; ++turn) {
        if (i == main_count && k == delta_count) break;
        const bool is_main = k == delta_count || (i < main_count && pair.is_main_first(i, k));
        const bool is_new = is_main || !pair.has_duplicate(i, k);
        found.source[turn] = is_main ? i : main_count + k;
        found.is_new |= (is_new ? 1u : 0u) << turn;
        ++found.count;
        i += is_main ? 1 : 0;
        k += is_main ? 0 : 1;
    }
    return found;
}

// Totals before a thread's values in the tile, and those of the tile.
template <class T>
struct TileRanks {
    T before;
    T total;
};

// Joins the totals of the threads, and posts that of the tile. All threads call it. The values that merge_values reads
// may be overwritten after it.
template <class Op, u32 threads, class T>
static __device__ __forceinline__ TileRanks<T> ranks_of_tile(T own, tile::Chain<T> chain, u32 number,
                                                             T (&totals)[threads / tile::lanes]) {
    const T upto = tile::scan_warp<Op>(own);
    const T before = tile::shuffle_up(upto, 1);
    const tile::WarpPrefix<T> warps = tile::scan_warps<Op, threads>(tile::shuffle(upto, tile::lanes - 1), totals);
    if (threadIdx.x == 0) chain.template post<Op>(number, warps.total);
    return {tile::lane() == 0 ? warps.before : Op::join(warps.before, before), warps.total};
}

// Writes the position in the tile of each of the thread's values; -1 for a duplicate of the value before the tile.
// Calls `write(turn, source, position)` for the values that are new.
template <class Write>
static __device__ __forceinline__ void place_values(const ThreadMerge& merged, u32 before, u32* positions,
                                                    const Write& write) {
    u32 next = before;
#pragma unroll
    for (u32 turn = 0; turn < thread_values; ++turn) {
        if (turn >= merged.count) break;
        const bool is_new = merged.is_new >> turn & 1;
        if (is_new) write(turn, merged.source[turn], next);
        next += is_new ? 1 : 0;
        positions[merged.source[turn]] = next - 1;
    }
}

// Writes the codes of the tile's values. `positions` is complete, and `before` is the number of distinct values of all
// preceding tiles.
template <u32 threads>
static __device__ __forceinline__ void write_tables(const MergeTile& tile, const u32* positions, u32 before,
                                                    u32* main_codes, u32* delta_codes) {
    for (u32 i = threadIdx.x; i < tile.count(); i += threads) {
        const u32 code = before + positions[i];
        if (i < tile.main_count) {
            main_codes[tile.main_begin + i] = code;
        } else {
            delta_codes[tile.delta_begin + i - tile.main_count] = code;
        }
    }
}

// Writes the number of main values before tile `number`.
template <class Pair>
static __device__ __forceinline__ void write_cut(const Pair& pair, u64 main_count, u64 delta_count, u64 tile_values,
                                                 u64* cuts) {
    const u64 number = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x, values = main_count + delta_count;
    if (number > (values + tile_values - 1) / tile_values) return;
    const u64 rank = number * tile_values < values ? number * tile_values : values;
    cuts[number] = main_before(pair, main_count, delta_count, rank);
}

}  // namespace headrace
