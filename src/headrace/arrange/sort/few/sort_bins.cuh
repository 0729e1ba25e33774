// Keys that are not many and not skewed, sorted by blocks that neither meet nor talk: each reads all keys twice from
// the second cache. It counts them by bins of equal size between the lowest and the highest of a sample, which all
// blocks draw alike, takes the bins whose first key belongs to its part of the result, and ranks their keys in shared
// memory, each among its bin: by code, and equal ones by row. What lies outside the sample's range is in the first or
// the last bin, so the sample may be any; it only must leave no bin too large.
//
// n = 65,536 of 4 bytes: 256 KiB a block, 128 additions of a thread in shared memory, some 16 comparisons a key.
#pragma once
#include "arrange/sort/few/block_sort.cuh"
#include "arrange/sort/moved_item.cuh"

namespace headrace {

constexpr u32 bins = warps * digits;  // counters that Shared has
constexpr u32 bins_of_thread = bins > threads ? bins / threads : 1;
constexpr u32 bin_bits = bits + (warps > 16 ? 5 : warps > 8 ? 4 : warps > 4 ? 3 : warps > 2 ? 2 : warps > 1 ? 1 : 0);
constexpr u32 most_of_bin = 256;  // keys of a bin, each of which is compared with all of them
constexpr u32 list_keys = tile_keys + most_of_bin;
static_assert(1u << bin_bits == bins);

using BinWord = Either<sizeof(Key) == 8, u64, u32>;

// Which of the bins a code is in.
struct BinRule {
    BinWord lowest;
    u32 shift;

    __device__ __forceinline__ u32 of(BinWord code) const {
        const BinWord bin = code < lowest ? 0 : (code - lowest) >> shift;
        return bin < bins ? static_cast<u32>(bin) : bins - 1;
    }
};

// What all threads share besides the counters.
struct BinShared {
    BinWord lowest[warps], highest[warps];
    u32 first, last;  // the block's bins
    u32 begin, end;   // and their part of the result
};

struct Binned {
    const Key* keys;
    u32 count;
    const SortDigit<Key>& rule;
    BinShared& shared;
    u32* bin;    // counts, then where a bin's next key goes, then where it ends
    Key* key;    // the block's keys, by bins
    u32* row;    // and where they came from
    u32 part;    // where the block's part of the result begins
    u32 behind;  // and where it ends

    __device__ __forceinline__ BinWord code(Key given) const { return rule.bits_of(rule.moved(given)); }
};

// By 512 or so keys at equal distances.
static __device__ __forceinline__ BinRule choose_bins(const Binned& all) {
    const u64 at = static_cast<u64>(threadIdx.x) * all.count / threads;
    BinWord lowest = all.code(all.keys[at]), highest = lowest;
#pragma unroll
    for (u32 distance = 1; distance < tile::lanes; distance *= 2) {
        const BinWord low = __shfl_xor_sync(tile::all_lanes, lowest, static_cast<int>(distance));
        const BinWord high = __shfl_xor_sync(tile::all_lanes, highest, static_cast<int>(distance));
        lowest = low < lowest ? low : lowest;
        highest = high > highest ? high : highest;
    }
    if (tile::lane() == 0) {
        all.shared.lowest[tile::warp()] = lowest;
        all.shared.highest[tile::warp()] = highest;
    }
    for (u32 i = threadIdx.x; i < bins; i += threads) all.bin[i] = 0;
    if (threadIdx.x == 0) all.shared.first = all.shared.last = all.shared.begin = all.shared.end = 0;
    __syncthreads();
#pragma unroll
    for (u32 w = 0; w < warps; ++w) {
        const BinWord low = all.shared.lowest[w], high = all.shared.highest[w];
        lowest = low < lowest ? low : lowest;
        highest = high > highest ? high : highest;
    }
    const u32 width = 64 - static_cast<u32>(leading_zeros(static_cast<u64>(highest - lowest) | 1));
    return {lowest, width > bin_bits ? width - bin_bits : 0};
}

// Calls use(key, row) for all keys, in some order.
template <class Use>
static __device__ __forceinline__ void for_all_keys(const Binned& all, const Use& use) {
    constexpr u32 per = tile::per_vector<Key>, together = 4;
    const bool is_aligned = tile::aligned(all.keys);
    const u32 vectors = is_aligned ? all.count / (per * threads * together) * together : 0;  // of a thread
    const auto* const in = reinterpret_cast<const tile::Vector<Key>*>(all.keys);
#pragma unroll 1
    for (u32 v = 0; v < vectors; v += together) {
        tile::Vector<Key> some[together];
#pragma unroll
        for (u32 k = 0; k < together; ++k) some[k] = in[(v + k) * threads + threadIdx.x];
#pragma unroll
        for (u32 k = 0; k < together; ++k) {
#pragma unroll
            for (u32 i = 0; i < per; ++i) use(some[k].item[i], ((v + k) * threads + threadIdx.x) * per + i);
        }
    }
#pragma unroll 4
    for (u32 at = vectors * threads * per + threadIdx.x; at < all.count; at += threads) use(all.keys[at], at);
}

// Counts become places. False: a bin is too large. A block has the bins that begin in its part of the result.
static __device__ __forceinline__ bool place_bins(const Binned& all, Shared& shared) {
    u32* const own = all.bin + threadIdx.x * bins_of_thread;
    u32 count[bins_of_thread], sum = 0, most = 0;
#pragma unroll
    for (u32 i = 0; i < bins_of_thread; ++i) {
        count[i] = own[i];
        sum += count[i];
        most = count[i] > most ? count[i] : most;
    }
    if (__syncthreads_or(most > most_of_bin) != 0) return false;
    u32 begin = start_of(sum, shared);
#pragma unroll
    for (u32 i = 0; i < bins_of_thread; ++i) {
        const u32 end = begin + count[i], next = threadIdx.x * bins_of_thread + i + 1;
        own[i] = begin;
        if (begin < all.part && end >= all.part) {
            all.shared.first = next;
            all.shared.begin = end;
        }
        if (begin < all.behind && end >= all.behind) {
            all.shared.last = next;
            all.shared.end = end;
        }
        begin = end;
    }
    __syncthreads();
    return true;
}

// How many of a bin's keys come before the one at `at`.
static __device__ __forceinline__ u32 rank_in_bin(const Binned& all, const BinRule& rule, u32 at) {
    const BinWord own = all.rule.bits_of(all.key[at]);
    const u32 row = all.row[at], bin = rule.of(own);
    const u32 begin = (bin == all.shared.first ? all.shared.begin : all.bin[bin - 1]) - all.part;
    const u32 end = all.bin[bin] - all.part;
    u32 before = begin;
#pragma unroll 4
    for (u32 other = begin; other < end; ++other) {
        const BinWord code = all.rule.bits_of(all.key[other]);
        before += code < own || (code == own && all.row[other] < row) ? 1 : 0;
    }
    return all.part + before;
}

// False, and nothing is written: keys are skewed.
static __device__ __forceinline__ bool sort_by_bins(const Binned& all, const Arrays& arrays, u32 writes_keys,
                                                    Shared& shared) {
    const BinRule rule = choose_bins(all);
    for_all_keys(all, [&](Key key, u32) { atomicAdd(&all.bin[rule.of(all.code(key))], 1u); });
    __syncthreads();
    if (!place_bins(all, shared)) return false;
    const u32 first = all.shared.first, own = all.shared.last - first;
    for_all_keys(all, [&](Key key, u32 row) {
        const u32 bin = rule.of(all.code(key));
        if (bin - first >= own) return;
        const u32 at = atomicAdd(&all.bin[bin], 1u) - all.part;
        all.key[at] = all.rule.moved(key);
        all.row[at] = row;
    });
    __syncthreads();
#pragma unroll 1
    for (u32 at = all.shared.begin - all.part + threadIdx.x; at < all.shared.end - all.part; at += threads) {
        const u32 to = rank_in_bin(all, rule, at);
        if (writes_keys != 0) static_cast<Key*>(arrays.keys.target)[to] = all.rule.given(all.key[at]);
#pragma unroll 1
        for (u32 c = 0; c < arrays.columns; ++c) put_item(arrays.column[c], to, item_of(arrays.column[c], all.row[at]));
    }
    return true;
}

}  // namespace headrace
