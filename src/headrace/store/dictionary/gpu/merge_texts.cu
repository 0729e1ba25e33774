// Merges two sorted dictionaries of texts by direct comparison, as merge_numbers.cu merges numbers. The first pass
// writes both tables, and the source and begin of each merged text. The second pass copies the texts, a warp for each.
//
// Bytes moved per text: its bytes, read for comparisons and copied once, and about 40 for offsets, sources and codes.
#include "store/dictionary/gpu/merge_tile.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 tile_values = threads * thread_values;
static_assert(tile_values < u64{1} << (32 - thread_values));
constexpr u32 is_of_delta = 1u << 31;

static __device__ __forceinline__ i64 size_of(const TextValues& texts, u64 i) {
    return texts.offsets[i + 1] - texts.offsets[i];
}

// The texts of a tile.
struct TileTexts {
    TextPair pair;
    u64 main_begin, delta_begin;

    __device__ __forceinline__ bool is_main_first(u32 i, u32 k) const {
        return pair.is_main_first(main_begin + i, delta_begin + k);
    }
    __device__ __forceinline__ u64 size(bool is_main, u32 i) const {
        return static_cast<u64>(is_main ? size_of(pair.main, main_begin + i) : size_of(pair.delta, delta_begin + i));
    }
    __device__ __forceinline__ bool has_duplicate(u32 i, u32 k) const {
        return is_duplicate(pair, main_begin + i, delta_begin + k);
    }
};

// Merges the texts of a thread, from number `rank` on, and returns their bits, and of those before it in the tile.
static __device__ __forceinline__ ThreadBits merge_texts_of_thread(const TileTexts& tile, u32 main_count,
                                                                   u32 delta_count, u32 rank) {
    const u32 count = main_count + delta_count, begin = rank < count ? rank : count;
    u32 i = main_before(tile, main_count, delta_count, begin), k = begin - i;
    ThreadBits bits{0, i << thread_values};
    for (u32 turn = 0; begin + turn < count && turn < thread_values; ++turn) {
        const bool is_main = k == delta_count || (i < main_count && tile.is_main_first(i, k));
        const bool is_duplicate = !is_main && tile.has_duplicate(i, k);
        bits.mains |= (is_main ? 1u : 0u) << turn;
        bits.duplicates |= (is_duplicate ? 1u : 0u) << turn;
        i += is_main ? 1 : 0;
        k += is_main ? 0 : 1;
    }
    return bits;
}

// Calls `work(turn, bytes)` for each of the thread's texts in `is_new`.
template <class Work>
static __device__ __forceinline__ void for_each_new(const TileTexts& tile, const ThreadBits& bits, u32 is_new, u32 rank,
                                                    const Work& work) {
    u32 i = bits.mains >> thread_values;
    for (u32 turn = 0; turn < thread_values; ++turn) {
        const bool is_main = (bits.mains >> turn & 1) != 0;
        if (is_new >> turn & 1) work(turn, tile.size(is_main, is_main ? i : rank + turn - i));
        i += is_main ? 1 : 0;
    }
}

// A number of texts, and their bytes.
struct TextTotals {
    u64 texts, bytes;
};

struct SumTotals {
    using Item = TextTotals;
    static constexpr bool commutes = true;
    static __device__ __forceinline__ TextTotals identity() { return {0, 0}; }
    static __device__ __forceinline__ TextTotals join(TextTotals a, TextTotals b) {
        return {a.texts + b.texts, a.bytes + b.bytes};
    }
};

using Chain = tile::Chain<TextTotals>;

extern "C" __global__ void __launch_bounds__(threads)
    cut_texts(const __grid_constant__ TextPair pair, u64 main_count, u64 delta_count, u64* cuts) {
    write_cut(pair, main_count, delta_count, tile_values, cuts);
}

// `sources`: number of each merged text, with the highest bit for texts of the delta; `offsets`: begin of each, and the
// end; `memory`: of the look-back, zero; `found`: number of distinct texts.
extern "C" __global__ void __launch_bounds__(threads)
    merge_texts(const __grid_constant__ TextPair pair, u64 values, const u64* cuts, Chain::Word* memory, u32* sources,
                i64* offsets, u32* main_codes, u32* delta_codes, u64* found) {
    __shared__ u64 begins[tile_values];
    __shared__ ThreadBits bits[threads];
    __shared__ TextTotals totals[threads / tile::lanes];
    __shared__ TextTotals before;
    __shared__ u32 ticket;
    Chain chain(memory);
    if (threadIdx.x == 0) ticket = chain.take_tile();
    __syncthreads();
    const u32 number = ticket;
    const MergeTile tile = tile_of_cuts(cuts, number, tile_values, values);
    const u32 count = tile.count(), rank = threadIdx.x * thread_values;
    const TileTexts texts{pair, tile.main_begin, tile.delta_begin};
    ThreadBits own = merge_texts_of_thread(texts, tile.main_count, tile.delta_count, rank);
    const u32 is_new = new_values(own, rank, count);
    TextTotals sum{static_cast<u64>(__popc(is_new)), 0};
    for_each_new(texts, own, is_new, rank, [&](u32, u64 bytes) { sum.bytes += bytes; });
    const TileRanks<TextTotals> ranks = ranks_of_tile<SumTotals, threads>(sum, chain, number, totals);
    u64 begin = ranks.before.bytes;
    for_each_new(texts, own, is_new, rank, [&](u32 turn, u64 bytes) {
        begins[rank + turn] = begin;
        begin += bytes;
    });
    own.duplicates |= (rank - static_cast<u32>(ranks.before.texts)) << thread_values;
    bits[threadIdx.x] = own;
    if (tile::warp() == 0) {
        const TextTotals joined = chain.prefix<SumTotals>(number, ranks.total);
        if (tile::lane() == 0) before = joined;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < count; i += threads) {
        const MergedValue value = merged_value(bits, i);
        write_code(tile, value, static_cast<u32>(before.texts), main_codes, delta_codes);
        if (value.is_duplicate) continue;
        const u64 text = (value.is_main ? tile.main_begin : tile.delta_begin) + value.source;
        sources[before.texts + value.code] = static_cast<u32>(text) | (value.is_main ? 0 : is_of_delta);
        offsets[before.texts + value.code] = static_cast<i64>(before.bytes + begins[i]);
    }
    if (tile.is_last && threadIdx.x == 0) {
        *found = before.texts + ranks.total.texts;
        offsets[before.texts + ranks.total.texts] = static_cast<i64>(before.bytes + ranks.total.bytes);
    }
}

// `offsets`: begin of each of `count` merged texts.
extern "C" __global__ void __launch_bounds__(threads)
    copy_merged_texts(const __grid_constant__ TextPair pair, u64 count, const u32* sources, const i64* offsets,
                      u8* bytes) {
    const u64 text = static_cast<u64>(blockIdx.x) * (threads / tile::lanes) + tile::warp();
    if (text >= count) return;
    const u32 source = sources[text];
    const TextValues& from = source & is_of_delta ? pair.delta : pair.main;
    const u64 number = source & ~is_of_delta;
    const u8* const begin = from.bytes + from.offsets[number];
    const i64 size = size_of(from, number);
    for (i64 i = tile::lane(); i < size; i += tile::lanes) bytes[offsets[text] + i] = begin[i];
}
