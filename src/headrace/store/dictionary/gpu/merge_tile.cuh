// Merges the part of two dictionaries that a block has. Each thread finds its begin by a search on the diagonal, and
// walks over its values. (Green, McColl and Bader 2012, GPU Merge Path.) An odd number of values of 8 bytes per thread
// spreads them over the banks of shared memory.
#pragma once
#include "gpu/block/block.cuh"
#include "gpu/block/block_look_back.cuh"
#include "store/dictionary/rules/merge.hpp"

namespace headrace {

constexpr u32 thread_values = HR_THREAD_VALUES;
static_assert(thread_values <= 32);

// Begin and size of a tile in both dictionaries.
struct MergeTile {
    u64 main_begin, delta_begin;
    u32 main_count, delta_count;
    bool is_last;

    HR_MEMBER u32 count() const { return main_count + delta_count; }
};

// `cuts`: the number of main values before each tile, and before the end.
HR_FN MergeTile tile_of_cuts(const u64* cuts, u64 tile, u64 tile_values, u64 values) {
    const u64 rank = tile * tile_values, end = rank + tile_values < values ? rank + tile_values : values;
    const u64 main_begin = cuts[tile], main_end = cuts[tile + 1];
    return {main_begin, rank - main_begin, static_cast<u32>(main_end - main_begin),
            static_cast<u32>(end - main_end - (rank - main_begin)), end == values};
}

// The values of a thread: those from main_begin and delta_begin on in the tile. Bit t of `is_main` is set if value t is
// of the main dictionary, and bit t of `is_new` if it is no duplicate.
struct ThreadMerge {
    u32 main_begin, delta_begin;
    u32 count;
    u32 is_main, is_new;
};

// Calls `work(turn, source, is_new)` for each of the thread's values. `source`: number in the tile, first those of the
// main dictionary.
template <class Work>
HR_FN void for_each_value(const ThreadMerge& merged, u32 main_count, const Work& work) {
    u32 i = merged.main_begin, k = main_count + merged.delta_begin;
#pragma unroll
    for (u32 turn = 0; turn < thread_values; ++turn) {
        if (turn >= merged.count) break;
        const bool is_main = merged.is_main >> turn & 1;
        work(turn, is_main ? i : k, (merged.is_new >> turn & 1) != 0);
        i += is_main ? 1 : 0;
        k += is_main ? 0 : 1;
    }
}

// Returns the thread's begin in a tile, which is found by a search on the diagonal. `Pair` has is_main_first(i, k).
template <class Pair>
HR_FN ThreadMerge begin_of_thread(const Pair& pair, u32 main_count, u32 delta_count) {
    const u32 rank = threadIdx.x * thread_values, values = main_count + delta_count;
    if (rank >= values) return {main_count, delta_count, 0, 0, 0};
    const u32 i = static_cast<u32>(main_before(pair, main_count, delta_count, rank));
    return {i, rank - i, values - rank < thread_values ? values - rank : thread_values, 0, 0};
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
HR_FN TileRanks<T> ranks_of_tile(T own, tile::Chain<T> chain, u32 number, T (&totals)[threads / tile::lanes]) {
    const T upto = tile::scan_warp<Op>(own);
    const T before = tile::shuffle_up(upto, 1);
    const tile::WarpPrefix<T> warps = tile::scan_warps<Op, threads>(tile::shuffle(upto, tile::lanes - 1), totals);
    if (threadIdx.x == 0) chain.template post<Op>(number, warps.total);
    return {tile::lane() == 0 ? warps.before : Op::join(warps.before, before), warps.total};
}

// Writes the position in the tile of each of the thread's values; -1 for a duplicate of the value before the tile.
// Calls `write(turn, source, position)` for the values that are new.
template <class Write>
HR_FN void place_values(const ThreadMerge& merged, u32 main_count, u32 before, i16* positions, const Write& write) {
    u32 next = before;
    for_each_value(merged, main_count, [&](u32 turn, u32 source, bool is_new) {
        if (is_new) write(turn, source, next);
        next += is_new ? 1 : 0;
        positions[source] = static_cast<i16>(next - 1);
    });
}

// Writes the codes of the tile's values. `positions` is complete, and `before` is the number of distinct values of all
// preceding tiles.
template <u32 threads>
HR_FN void write_tables(const MergeTile& tile, const i16* positions, u32 before, u32* main_codes, u32* delta_codes) {
    for (u32 i = threadIdx.x; i < tile.count(); i += threads) {
        const u32 code = before + static_cast<u32>(i32{positions[i]});
        if (i < tile.main_count) {
            main_codes[tile.main_begin + i] = code;
        } else {
            delta_codes[tile.delta_begin + i - tile.main_count] = code;
        }
    }
}

// Writes the number of main values before tile `number`.
template <class Pair>
HR_FN void write_cut(const Pair& pair, u64 main_count, u64 delta_count, u64 tile_values, u64* cuts) {
    const u64 number = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x, values = main_count + delta_count;
    if (number > (values + tile_values - 1) / tile_values) return;
    const u64 rank = number * tile_values < values ? number * tile_values : values;
    cuts[number] = main_before(pair, main_count, delta_count, rank);
}

}  // namespace headrace
