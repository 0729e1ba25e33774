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
static_assert(tile_values <= 1 << 15);

// The codes of a tile in shared memory: those of the main dictionary, then those of the delta.
struct TileCodes {
    const Value* codes;
    u32 main_count, count;
    bool has_previous;  // whether a main value precedes the tile
    Value previous;

    HR_MEMBER bool is_main_first(u64 i, u64 k) const { return codes[i] <= codes[main_count + k]; }
    HR_MEMBER Value code(u32 source) const { return source < count ? codes[source] : Value{0}; }
};

// Merges the thread's values, and writes their codes. The next code of each dictionary, and the last one of the main
// dictionary, are in registers, so that a turn reads one code.
HR_FN ThreadMerge merge_codes(const TileCodes& tile, Value (&merged_codes)[thread_values]) {
    const u32 main_count = tile.main_count;
    ThreadMerge own = begin_of_thread(tile, main_count, tile.count - main_count);
    u32 i = own.main_begin, k = main_count + own.delta_begin;
    Value main = tile.code(i), delta = tile.code(k);
    bool has_last = i > 0 || tile.has_previous;
    Value last = i > 0 ? tile.code(i - 1) : tile.previous;
#pragma unroll
    for (u32 turn = 0; turn < thread_values; ++turn) {
        if (turn >= own.count) break;
        const bool is_main = k == tile.count || (i < main_count && main <= delta);
        const bool is_new = is_main || !has_last || last != delta;
        own.is_main |= (is_main ? 1u : 0u) << turn;
        own.is_new |= (is_new ? 1u : 0u) << turn;
        merged_codes[turn] = is_main ? main : delta;
        has_last |= is_main;
        last = is_main ? main : last;
        i += is_main ? 1 : 0;
        k += is_main ? 0 : 1;
        const Value next = tile.code(is_main ? i : k);
        main = is_main ? next : main;
        delta = is_main ? delta : next;
    }
    return own;
}

// Reads the codes of a tile; all loads of a thread are under way at once.
HR_FN void read_tile(const Value* main, const Value* delta, const KeyRule<Value>& rule, const MergeTile& tile,
                     Value* codes) {
    Value loaded[thread_values];
#pragma unroll
    for (u32 turn = 0; turn < thread_values; ++turn) {
        const u32 i = turn * threads + threadIdx.x;
        if (i >= tile.count()) break;
        const bool is_main = i < tile.main_count;
        loaded[turn] = is_main ? main[tile.main_begin + i] : delta[tile.delta_begin + i - tile.main_count];
    }
#pragma unroll
    for (u32 turn = 0; turn < thread_values; ++turn) {
        const u32 i = turn * threads + threadIdx.x;
        if (i < tile.count()) codes[i] = rule.code(loaded[turn]);
    }
}

extern "C" __global__ void __launch_bounds__(threads) cut_numbers(const Value* main, u64 main_count, const Value* delta,
                                                                  u64 delta_count, KeyRule<Value> rule, u64* cuts) {
    write_cut(NumberPair<Value>{main, delta, rule}, main_count, delta_count, tile_values, cuts);
}

// `memory`: of the look-back, zero; a word, and one for each tile. `found`: number of distinct values.
extern "C" __global__ void __launch_bounds__(threads)
    merge_numbers(const Value* main, const Value* delta, u64 values, KeyRule<Value> rule, const u64* cuts,
                  tile::Chain<u32>::Word* memory, Value* merged, u32* main_codes, u32* delta_codes, u64* found) {
    __shared__ Value codes[tile_values];
    __shared__ i16 positions[tile_values];
    __shared__ u32 totals[threads / tile::lanes];
    __shared__ u32 ticket, before;
    tile::Chain<u32> chain(memory);
    if (threadIdx.x == 0) ticket = chain.take_tile();
    __syncthreads();
    const u32 number = ticket;
    const MergeTile tile = tile_of_cuts(cuts, number, tile_values, values);
    read_tile(main, delta, rule, tile, codes);
    const bool has_previous = tile.main_begin > 0;
    const Value previous = has_previous ? rule.code(main[tile.main_begin - 1]) : Value{0};
    __syncthreads();
    Value merged_codes[thread_values];
    const ThreadMerge own =
        merge_codes(TileCodes{codes, tile.main_count, tile.count(), has_previous, previous}, merged_codes);
    const TileRanks<u32> ranks =
        ranks_of_tile<Sum<u32>, threads>(static_cast<u32>(__popc(own.is_new)), chain, number, totals);
    place_values(own, tile.main_count, ranks.before, positions,
                 [&](u32 turn, u32, u32 position) { codes[position] = merged_codes[turn]; });
    if (tile::warp() == 0) {
        const u32 sum = chain.prefix<Sum<u32>>(number, ranks.total);
        if (tile::lane() == 0) before = sum;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < ranks.total; i += threads) merged[before + i] = rule.key(codes[i]);
    write_tables<threads>(tile, positions, before, main_codes, delta_codes);
    if (tile.is_last && threadIdx.x == 0) *found = u64{before} + ranks.total;
}
