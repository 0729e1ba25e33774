// Chooses heavy hitters from a sample (heavy_hitters.cuh). These are values of many of its keys, if extracting them is
// likely to cost less than sorting all keys by LSD. One block.
#pragma once
#include "arrange/sort/gpu/common/plan_steps.cuh"
#include "arrange/sort/gpu/heavy_hitters/heavy_hitters.cuh"
#include "arrange/sort/gpu/lsd/order_check.cuh"

namespace headrace {

using All = Heavy<Key, HR_CLASS_BITS>;
constexpr u32 sample_threads = HR_SAMPLE_THREADS;
constexpr u32 sample_warps = sample_threads / tile::lanes;
constexpr u32 per_thread = 4;
constexpr u32 sampled = per_thread * sample_threads;
constexpr u32 cells = 2 * sampled;
constexpr u32 min_count = sampled < 2048 ? 4 : sampled / 512;  // minimum number of sampled keys of a heavy hitter
constexpr u32 max_candidates = sampled / min_count;            // maximum number of such values
constexpr u32 max_heavy = All::classes - 1;
constexpr u32 bitmap_words = All::slots / 32;
static_assert(sampled < 1u << 16 && bitmap_words * sample_warps <= cells && max_heavy <= sample_threads);

struct SampleShared {
    u32 listed, chosen, best, in_chosen;
    u32 pairs, pairs_chosen;  // pairs of equal keys, of all values and of the chosen ones
    Key differ;
    u32 owner[max_candidates], count[max_candidates];
    Key code[max_heavy];
    u32 is_in[max_heavy];
};

HR_FN Key multiplier_of(u32 trial) { return static_cast<Key>(mix_bits(u64{trial + 1}) | 1); }

// Counts equal keys in a hash table. A cell holds a position in the sample, from 1 on, and above it the number of
// keys equal to that one.
HR_FN void count_alike(const Key* code, u32 place, u32* cell) {
    const Key own = code[place];
    u32 at = static_cast<u32>(mix_bits(own)) % cells;
    for (;; at = (at + 1) % cells) {
        u32 found = *static_cast<volatile u32*>(&cell[at]);
        if (found == 0) found = atomicCAS(&cell[at], 0u, (1u << 16) + place + 1);
        if (found == 0) return;
        if (code[(found & 0xFFFF) - 1] != own) continue;
        atomicAdd(&cell[at], 1u << 16);
        return;
    }
}

HR_FN u32 pairs_of(u32 count) { return count < 2 ? 0 : count * (count - 1) / 2; }

// Lists the values of enough sampled keys.
HR_FN void list_values(const u32* cell, SampleShared& shared) {
    u32 pairs = 0;
    for (u32 at = threadIdx.x; at < cells; at += sample_threads) {
        const u32 count = cell[at] >> 16;
        pairs += pairs_of(count);
        if (count < min_count) continue;
        const u32 place = atomicAdd(&shared.listed, 1u);
        shared.owner[place] = (cell[at] & 0xFFFF) - 1;
        shared.count[place] = count;
    }
    pairs = __reduce_add_sync(tile::all_lanes, pairs);
    if (tile::lane() == 0 && pairs != 0) atomicAdd(&shared.pairs, pairs);
}

// Chooses the most frequent of these, up to the maximum number.
HR_FN void choose_values(const Key* code, SampleShared& shared) {
    for (u32 i = threadIdx.x; i < shared.listed; i += sample_threads) {
        const Key own = code[shared.owner[i]];
        u32 preceding = 0;
        for (u32 k = 0; k < shared.listed && shared.listed > max_heavy; ++k) {
            const bool same = shared.count[k] == shared.count[i];
            preceding += shared.count[k] > shared.count[i] || (same && code[shared.owner[k]] < own) ? 1 : 0;
        }
        if (preceding >= max_heavy) continue;
        shared.code[atomicAdd(&shared.chosen, 1u)] = own;
        atomicAdd(&shared.in_chosen, shared.count[i]);
        atomicAdd(&shared.pairs_chosen, pairs_of(shared.count[i]));
    }
}

// Finds a hash. Each warp tries its own multipliers until all values have separate slots, or few have not.
HR_FN void find_hash(u32* bitmaps, SampleShared& shared) {
    u32* const occupied = bitmaps + tile::warp() * bitmap_words;
    for (u32 w = tile::lane(); w < bitmap_words; w += tile::lanes) occupied[w] = 0;
    __syncwarp();
    u32 lost = 0;
    for (u32 i = tile::lane(); i < shared.chosen; i += tile::lanes) {
        const u32 slot = All::slot_of(shared.code[i], multiplier_of(tile::warp()));
        lost += atomicOr(&occupied[slot / 32], 1u << slot % 32) >> slot % 32 & 1;
    }
    lost = __reduce_add_sync(tile::all_lanes, lost);
    if (tile::lane() == 0) atomicMin(&shared.best, lost << 16 | tile::warp());
}

// Writes the chosen values in ascending order of their codes; of values that share a slot, the lowest. Returns their
// number to all threads.
HR_FN u32 write_values(SampleShared& shared, All& heavy) {
    const u32 i = threadIdx.x, chosen = shared.chosen;
    const Key multiplier = multiplier_of(shared.best & 0xFFFF), own = i < chosen ? shared.code[i] : Key{0};
    bool is_in = i < chosen;
    for (u32 k = 0; k < chosen && is_in && shared.best >> 16 != 0; ++k) {
        const Key other = shared.code[k];
        is_in = other >= own || All::slot_of(other, multiplier) != All::slot_of(own, multiplier);
    }
    if (i < chosen) shared.is_in[i] = is_in ? 1 : 0;
    const u32 number = static_cast<u32>(__syncthreads_count(is_in));
    if (is_in) {
        u32 below = 0;
        for (u32 k = 0; k < chosen; ++k) below += shared.code[k] < own ? shared.is_in[k] : 0;
        heavy.code[below + 1] = own;
    }
    if (i == 0) heavy.multiplier = multiplier;
    return number;
}

}  // namespace headrace
