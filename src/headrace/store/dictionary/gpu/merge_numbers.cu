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
static_assert(tile_values < u64{1} << (32 - thread_values));

// The codes of a tile in shared memory: those of the main dictionary, then those of the delta. The highest code follows
// as many times as a thread has values. So a thread reads a code in each turn, also after the last one.
struct TileCodes {
    const Value* codes;
    u32 main_count, count;
    bool has_previous;  // whether a main value precedes the tile
    Value previous;

    __device__ __forceinline__ bool is_main_first(u32 i, u32 k) const { return codes[i] <= codes[main_count + k]; }
};

// Merges the values of a thread, from number `rank` on. A duplicate equals the value before it. Values after the end of
// the tile have any bits.
static __device__ __forceinline__ ThreadBits merge_codes(const TileCodes& tile, u32 rank,
                                                         Value (&merged)[thread_values]) {
    const u32 end = rank < tile.count ? rank : tile.count;
    u32 i = main_before(tile, tile.main_count, tile.count - tile.main_count, end), k = tile.main_count + end - i;
    const bool has_last = i > 0 || tile.has_previous;
    const Value last = i > 0 ? tile.codes[i - 1] : tile.previous;
    Value main = tile.codes[i], delta = tile.codes[k];
    ThreadBits bits{0, i << thread_values};
#pragma unroll
    for (u32 turn = 0; turn < thread_values; ++turn) {
        const bool is_main = i < tile.main_count && main <= delta;
        merged[turn] = is_main ? main : delta;
        const bool is_duplicate = turn == 0 ? has_last && last == merged[0] : merged[turn - 1] == merged[turn];
        bits.duplicates |= (is_duplicate ? 1u : 0u) << turn;
        bits.mains |= (is_main ? 1u : 0u) << turn;
        i += is_main ? 1 : 0;
        k += is_main ? 0 : 1;
        if (turn + 1 == thread_values) break;
        const Value next = tile.codes[is_main ? i : k];
        main = is_main ? next : main;
        delta = is_main ? delta : next;
    }
    return bits;
}

// Calls `work(i)` for each of `count` items of a tile, those of a thread one block of threads apart. Of a full tile all
// calls of a thread may be under way at once.
template <class Work>
static __device__ __forceinline__ void for_each_item(u32 count, const Work& work) {
    if (count == tile_values) {
#pragma unroll
        for (u32 turn = 0; turn < thread_values; ++turn) work(turn * threads + threadIdx.x);
    } else {
#pragma unroll 1
        for (u32 i = threadIdx.x; i < count; i += threads) work(i);
    }
}

// Reads the codes of a tile.
static __device__ __forceinline__ void read_tile(const Value* main, const Value* delta, const KeyRule<Value>& rule,
                                                 const MergeTile& tile, Value* codes) {
    const Value* const main_values = main + tile.main_begin;
    const Value* const delta_values = delta + (tile.delta_begin - tile.main_count);
    for_each_item(tile.count(),
                  [&](u32 i) { codes[i] = rule.code((i < tile.main_count ? main_values : delta_values)[i]); });
    if (threadIdx.x < thread_values) codes[tile.count() + threadIdx.x] = static_cast<Value>(~Value{0});
}

extern "C" __global__ void __launch_bounds__(threads) cut_numbers(const Value* main, u64 main_count, const Value* delta,
                                                                  u64 delta_count, KeyRule<Value> rule, u64* cuts) {
    write_cut(NumberPair<Value>{main, delta, rule}, main_count, delta_count, tile_values, cuts);
}

// `memory`: of the look-back, zero; a word, and one for each tile. `found`: number of distinct values.
extern "C" __global__ void __launch_bounds__(threads)
    merge_numbers(const Value* main, const Value* delta, u64 values, KeyRule<Value> rule, const u64* cuts,
                  tile::Chain<u32>::Word* memory, Value* merged, u32* main_codes, u32* delta_codes, u64* found) {
    __shared__ Value codes[tile_values + thread_values];
    __shared__ ThreadBits bits[threads];
    __shared__ u32 totals[threads / tile::lanes];
    __shared__ u32 ticket, before;
    tile::Chain<u32> chain(memory);
    if (threadIdx.x == 0) ticket = chain.take_tile();
    __syncthreads();
    const u32 number = ticket;
    const MergeTile tile = tile_of_cuts(cuts, number, tile_values, values);
    const u32 count = tile.count();
    read_tile(main, delta, rule, tile, codes);
    const bool has_previous = tile.main_begin > 0;
    const Value previous = has_previous ? rule.code(main[tile.main_begin - 1]) : Value{0};
    __syncthreads();
    Value merged_codes[thread_values];
    const u32 rank = threadIdx.x * thread_values;
    ThreadBits own = merge_codes(TileCodes{codes, tile.main_count, count, has_previous, previous}, rank, merged_codes);
    const u32 new_count = static_cast<u32>(__popc(new_values(own, rank, count)));
    const TileRanks<u32> ranks = ranks_of_tile<Sum<u32>, threads>(new_count, chain, number, totals);
    own.duplicates |= (rank - ranks.before) << thread_values;
    bits[threadIdx.x] = own;
#pragma unroll
    for (u32 turn = 0; turn < thread_values; ++turn) codes[rank + turn] = merged_codes[turn];
    if (tile::warp() == 0) {
        const u32 sum = chain.prefix<Sum<u32>>(number, ranks.total);
        if (tile::lane() == 0) before = sum;
    }
    __syncthreads();
    for_each_item(count, [&](u32 i) {
        const MergedValue value = merged_value(bits, i);
        write_code(tile, value, before, main_codes, delta_codes);
        if (!value.is_duplicate) merged[before + value.code] = rule.key(codes[i]);
    });
    if (tile.is_last && threadIdx.x == 0) *found = u64{before} + ranks.total;
}
