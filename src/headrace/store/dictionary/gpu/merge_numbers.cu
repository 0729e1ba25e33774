// Merges two sorted dictionaries of numbers in one pass, which writes the merged dictionary and both translation
// tables. A tile of the merged sequence is merged in shared memory. A decoupled look-back finds the number of distinct
// values of all preceding tiles, so nothing is compacted afterwards. For example, main 1 3 5 and delta 3 4 have
//
//   merged 1 3 4 5, main codes 0 1 3, delta codes 1 2
//
// (Krueger et al. 2011, section 3.1, with tiles of equal size instead of slices.)
//
// Bytes moved per value of width w: w + 4, and w for each distinct value.
#include "store/dictionary/gpu/merge_tile.cuh"

using namespace headrace;

using Value = HR_VALUE;
constexpr u32 threads = HR_THREADS;
constexpr u32 tile_values = threads * thread_values;

// The codes of a tile in shared memory: those of the main dictionary, then those of the delta.
struct TileCodes {
    const Value* codes;
    u32 main_count;
    bool has_previous;  // whether a main value precedes the tile
    Value previous;

    __device__ __forceinline__ bool is_main_first(u64 i, u64 k) const { return codes[i] <= codes[main_count + k]; }
    __device__ __forceinline__ bool has_duplicate(u32 i, u32 k) const {
        if (i == 0) return has_previous && previous == codes[main_count + k];
        return codes[i - 1] == codes[main_count + k];
    }
};

extern "C" __global__ void __launch_bounds__(threads) cut_numbers(const Value* main, u64 main_count, const Value* delta,
                                                                  u64 delta_count, KeyRule<Value> rule, u64* cuts) {
    write_cut(NumberPair<Value>{main, delta, rule}, main_count, delta_count, tile_values, cuts);
}

// `memory`: of the look-back, zero; a word, and one for each tile. `found`: number of distinct values.
extern "C" __global__ void __launch_bounds__(threads)
    merge_numbers(const Value* main, const Value* delta, u64 values, KeyRule<Value> rule, const u64* cuts,
                  tile::Chain<u32>::Word* memory, Value* merged, u32* main_codes, u32* delta_codes, u64* found) {
    __shared__ Value codes[tile_values];
    __shared__ u32 positions[tile_values];
    __shared__ u32 totals[threads / tile::lanes];
    __shared__ u32 ticket, before;
    tile::Chain<u32> chain(memory);
    if (threadIdx.x == 0) ticket = chain.take_tile();
    __syncthreads();
    const u32 number = ticket;
    const MergeTile tile = tile_of_cuts(cuts, number, tile_values, values);
    for (u32 i = threadIdx.x; i < tile.count(); i += threads) {
        const bool is_main = i < tile.main_count;
        codes[i] = rule.code(is_main ? main[tile.main_begin + i] : delta[tile.delta_begin + i - tile.main_count]);
    }
    const bool has_previous = tile.main_begin > 0;
    const Value previous = has_previous ? rule.code(main[tile.main_begin - 1]) : Value{0};
    __syncthreads();
    const ThreadMerge own =
        merge_values(TileCodes{codes, tile.main_count, has_previous, previous}, tile.main_count, tile.delta_count);
    Value thread_codes[thread_values];
#pragma unroll
    for (u32 turn = 0; turn < thread_values; ++turn) {
        if (turn < own.count) thread_codes[turn] = codes[own.source[turn]];
    }
    const TileRanks<u32> ranks =
        ranks_of_tile<Sum<u32>, threads>(static_cast<u32>(__popc(own.is_new)), chain, number, totals);
    place_values(own, ranks.before, positions,
                 [&](u32 turn, u32, u32 position) { codes[position] = thread_codes[turn]; });
    if (tile::warp() == 0) {
        const u32 sum = chain.prefix<Sum<u32>>(number, ranks.total);
        if (tile::lane() == 0) before = sum;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < ranks.total; i += threads) merged[before + i] = rule.key(codes[i]);
    write_tables<threads>(tile, positions, before, main_codes, delta_codes);
    if (tile.is_last && threadIdx.x == 0) *found = u64{before} + ranks.total;
}
