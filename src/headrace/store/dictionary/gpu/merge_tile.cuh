// Merges the part of two dictionaries that a block has. Each thread finds its begin by a search on the diagonal, and
// walks over its values. (Green, McColl and Bader 2012, GPU Merge Path.) An odd number of values of 8 bytes per thread
// spreads them over the banks of shared memory.
#pragma once
#include "gpu/block/block.cuh"
#include "gpu/block/block_look_back.cuh"
#include "store/dictionary/rules/merge.hpp"

namespace headrace {

constexpr u32 thread_values = HR_THREAD_VALUES;
static_assert(thread_values < 32);

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

// The values of a thread in the merged sequence of a tile: a bit for each duplicate, and for each value of the main
// dictionary. The bits after these have the number of such values of preceding threads. A duplicate follows its value.
struct ThreadBits {
    u32 duplicates, mains;
};

// Returns the bits of values from number `rank` on that are before the end of a tile and no duplicates.
static __device__ __forceinline__ u32 new_values(const ThreadBits& bits, u32 rank, u32 count) {
    const u32 rest = rank < count ? count - rank : 0;
    return ~bits.duplicates & ((1u << (rest < thread_values ? rest : thread_values)) - 1);
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

// A value of the merged sequence of a tile.
struct MergedValue {
    bool is_main, is_duplicate;
    u32 source;  // its number in the main or the delta values of the tile
    u32 code;    // number of distinct values of the tile before it, or before the value that it repeats
};

// Returns the number of set bits up to bit `place`, and that in the bits after those of values.
static __device__ __forceinline__ u32 counted_up_to(u32 bits, u32 place) {
    return (bits >> thread_values) + static_cast<u32>(__popc(bits << (31 - place)));
}

// Returns value `i` of the merged sequence. `bits`: those of all threads.
static __device__ __forceinline__ MergedValue merged_value(const ThreadBits* bits, u32 i) {
    const u32 place = i % thread_values;
    const ThreadBits found = bits[i / thread_values];
    const u32 mains = counted_up_to(found.mains, place);
    const bool is_main = (found.mains >> place & 1) != 0;
    return {is_main, (found.duplicates >> place & 1) != 0, is_main ? mains - 1 : i - mains,
            i - counted_up_to(found.duplicates, place)};
}

// Writes the code of a value to its table. `before`: number of distinct values of all preceding tiles.
static __device__ __forceinline__ void write_code(const MergeTile& tile, const MergedValue& value, u32 before,
                                                  u32* main_codes, u32* delta_codes) {
    u32* const codes = value.is_main ? main_codes + tile.main_begin : delta_codes + tile.delta_begin;
    codes[value.source] = before + value.code;
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
