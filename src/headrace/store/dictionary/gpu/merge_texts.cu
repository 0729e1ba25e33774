// Merges two sorted dictionaries of texts by direct comparison, as merge_numbers.cu merges numbers. The first pass
// writes both tables, and the source and begin of each merged text. The second pass copies the texts, a warp for each.
//
// Bytes moved per text: its bytes, read for comparisons and copied once, and about 40 for offsets, sources and codes.
#include "store/dictionary/gpu/merge_tile.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 tile_values = threads * thread_values;
static_assert(tile_values <= 1 << 15);
constexpr u32 is_of_delta = 1u << 31;

// The texts of a tile.
struct TileTexts {
    TextPair pair;
    u64 main_begin, delta_begin;

    HR_MEMBER bool is_main_first(u64 i, u64 k) const { return pair.is_main_first(main_begin + i, delta_begin + k); }
    HR_MEMBER bool has_duplicate(u64 i, u64 k) const { return is_duplicate(pair, main_begin + i, delta_begin + k); }
};

HR_FN ThreadMerge merge_texts_of_thread(const TileTexts& tile, u32 main_count, u32 delta_count) {
    ThreadMerge own = begin_of_thread(tile, main_count, delta_count);
    u32 i = own.main_begin, k = own.delta_begin;
    for (u32 turn = 0; turn < own.count; ++turn) {
        const bool is_main = k == delta_count || (i < main_count && tile.is_main_first(i, k));
        const bool is_new = is_main || !tile.has_duplicate(i, k);
        own.is_main |= (is_main ? 1u : 0u) << turn;
        own.is_new |= (is_new ? 1u : 0u) << turn;
        i += is_main ? 1 : 0;
        k += is_main ? 0 : 1;
    }
    return own;
}

// A number of texts, and their bytes.
struct TextTotals {
    u64 texts, bytes;
};

struct SumTotals {
    using Item = TextTotals;
    static constexpr bool commutes = true;
    HR_MEMBER static TextTotals identity() { return {0, 0}; }
    HR_MEMBER static TextTotals join(TextTotals a, TextTotals b) { return {a.texts + b.texts, a.bytes + b.bytes}; }
};

using Chain = tile::Chain<TextTotals>;

HR_FN i64 size_of(const TextValues& texts, u64 i) { return texts.offsets[i + 1] - texts.offsets[i]; }

extern "C" __global__ void __launch_bounds__(threads)
    cut_texts(const __grid_constant__ TextPair pair, u64 main_count, u64 delta_count, u64* cuts) {
    write_cut(pair, main_count, delta_count, tile_values, cuts);
}

// `sources`: number of each merged text, with the highest bit for texts of the delta; `offsets`: begin of each, and the
// end; `memory`: of the look-back, zero; `found`: number of distinct texts.
extern "C" __global__ void __launch_bounds__(threads)
    merge_texts(const __grid_constant__ TextPair pair, u64 values, const u64* cuts, Chain::Word* memory, u32* sources,
                i64* offsets, u32* main_codes, u32* delta_codes, u64* found) {
    __shared__ u32 merged[tile_values];
    __shared__ u64 begins[tile_values];
    __shared__ i16 positions[tile_values];
    __shared__ TextTotals totals[threads / tile::lanes];
    __shared__ TextTotals before;
    __shared__ u32 ticket;
    Chain chain(memory);
    if (threadIdx.x == 0) ticket = chain.take_tile();
    __syncthreads();
    const u32 number = ticket;
    const MergeTile tile = tile_of_cuts(cuts, number, tile_values, values);
    const ThreadMerge own =
        merge_texts_of_thread(TileTexts{pair, tile.main_begin, tile.delta_begin}, tile.main_count, tile.delta_count);
    const auto bytes_of = [&](u32 source) {
        const bool is_main = source < tile.main_count;
        const u64 text = is_main ? tile.main_begin + source : tile.delta_begin + source - tile.main_count;
        return static_cast<u64>(size_of(is_main ? pair.main : pair.delta, text));
    };
    TextTotals sum{static_cast<u64>(__popc(own.is_new)), 0};
    for_each_value(own, tile.main_count,
                   [&](u32, u32 source, bool is_new) { sum.bytes += is_new ? bytes_of(source) : 0; });
    const TileRanks<TextTotals> ranks = ranks_of_tile<SumTotals, threads>(sum, chain, number, totals);
    u64 begin = ranks.before.bytes;
    place_values(own, tile.main_count, static_cast<u32>(ranks.before.texts), positions,
                 [&](u32, u32 source, u32 position) {
                     merged[position] = source;
                     begins[position] = begin;
                     begin += bytes_of(source);
                 });
    if (tile::warp() == 0) {
        const TextTotals joined = chain.prefix<SumTotals>(number, ranks.total);
        if (tile::lane() == 0) before = joined;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < ranks.total.texts; i += threads) {
        const bool is_main = merged[i] < tile.main_count;
        const u64 text = is_main ? tile.main_begin + merged[i] : tile.delta_begin + merged[i] - tile.main_count;
        sources[before.texts + i] = static_cast<u32>(text) | (is_main ? 0 : is_of_delta);
        offsets[before.texts + i] = static_cast<i64>(before.bytes + begins[i]);
    }
    write_tables<threads>(tile, positions, static_cast<u32>(before.texts), main_codes, delta_codes);
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
