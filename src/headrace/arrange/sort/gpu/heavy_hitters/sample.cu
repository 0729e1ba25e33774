// Which values are heavy (heavy_hitters.cuh), by a sample: those that many of its keys have, if setting their keys
// aside promises to take less than sorting all by digits. One block.
#include "arrange/sort/gpu/common/plan_steps.cuh"
#include "arrange/sort/gpu/heavy_hitters/heavy_hitters.cuh"
#include "arrange/sort/gpu/lsd/order_check.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

using All = Heavy<Key, HR_CLASS_BITS>;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 per_thread = 4;
constexpr u32 sampled = per_thread * threads;
constexpr u32 cells = 2 * sampled;
constexpr u32 least = sampled < 2048 ? 4 : sampled / 512;  // keys of the sample that a heavy value has
constexpr u32 most = sampled / least;                      // such values
constexpr u32 most_heavy = All::classes - 1;
constexpr u32 bitmap_words = All::slots / 32;
static_assert(sampled < 1u << 16 && bitmap_words * warps <= cells && most_heavy <= threads);

struct FindShared {
    u32 listed, kept, best, in_kept;
    u32 pairs, pairs_kept;  // of keys alike, of all values and of those that are kept
    Key differ;
    u32 owner[most], count[most];
    Key code[most_heavy];
    u32 is_in[most_heavy];
};

// Of the hash, one for each try.
static __device__ __forceinline__ Key multiplier_of(u32 trial) {
    return static_cast<Key>(mix_bits(u64{trial + 1}) | 1);
}

// A cell holds a place of the sample, from 1 on, and above how many keys are as that one.
static __device__ __forceinline__ void count_alike(const Key* code, u32 place, u32* cell) {
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

static __device__ __forceinline__ u32 pairs_of(u32 count) { return count < 2 ? 0 : count * (count - 1) / 2; }

// Values that enough keys of the sample have.
static __device__ __forceinline__ void list_values(const u32* cell, FindShared& shared) {
    u32 pairs = 0;
    for (u32 at = threadIdx.x; at < cells; at += threads) {
        const u32 count = cell[at] >> 16;
        pairs += pairs_of(count);
        if (count < least) continue;
        const u32 place = atomicAdd(&shared.listed, 1u);
        shared.owner[place] = (cell[at] & 0xFFFF) - 1;
        shared.count[place] = count;
    }
    pairs = __reduce_add_sync(tile::all_lanes, pairs);
    if (tile::lane() == 0 && pairs != 0) atomicAdd(&shared.pairs, pairs);
}

// Of these the ones that most keys have, as many as there may be.
static __device__ __forceinline__ void keep_values(const Key* code, FindShared& shared) {
    for (u32 i = threadIdx.x; i < shared.listed; i += threads) {
        const Key own = code[shared.owner[i]];
        u32 ahead = 0;
        for (u32 k = 0; k < shared.listed && shared.listed > most_heavy; ++k) {
            const bool same = shared.count[k] == shared.count[i];
            ahead += shared.count[k] > shared.count[i] || (same && code[shared.owner[k]] < own) ? 1 : 0;
        }
        if (ahead >= most_heavy) continue;
        shared.code[atomicAdd(&shared.kept, 1u)] = own;
        atomicAdd(&shared.in_kept, shared.count[i]);
        atomicAdd(&shared.pairs_kept, pairs_of(shared.count[i]));
    }
}

// Each warp tries multipliers of its own, until all values have slots of their own, or few have not.
static __device__ __forceinline__ void find_hash(u32* bitmaps, FindShared& shared) {
    u32* const taken = bitmaps + tile::warp() * bitmap_words;
    for (u32 w = tile::lane(); w < bitmap_words; w += tile::lanes) taken[w] = 0;
    __syncwarp();
    u32 lost = 0;
    for (u32 i = tile::lane(); i < shared.kept; i += tile::lanes) {
        const u32 slot = All::slot_of(shared.code[i], multiplier_of(tile::warp()));
        lost += atomicOr(&taken[slot / 32], 1u << slot % 32) >> slot % 32 & 1;
    }
    lost = __reduce_add_sync(tile::all_lanes, lost);
    if (tile::lane() == 0) atomicMin(&shared.best, lost << 16 | tile::warp());
}

// What is kept, in the order of codes; of values that share a slot the lowest. By all threads: how many these are.
static __device__ __forceinline__ u32 write_values(FindShared& shared, All& heavy) {
    const u32 i = threadIdx.x, kept = shared.kept;
    const Key multiplier = multiplier_of(shared.best & 0xFFFF), own = i < kept ? shared.code[i] : Key{0};
    bool is_in = i < kept;
    for (u32 k = 0; k < kept && is_in && shared.best >> 16 != 0; ++k) {
        const Key other = shared.code[k];
        is_in = other >= own || All::slot_of(other, multiplier) != All::slot_of(own, multiplier);
    }
    if (i < kept) shared.is_in[i] = is_in ? 1 : 0;
    const u32 number = static_cast<u32>(__syncthreads_count(is_in));
    if (is_in) {
        u32 below = 0;
        for (u32 k = 0; k < kept; ++k) below += shared.code[k] < own ? shared.is_in[k] : 0;
        heavy.code[below + 1] = own;
    }
    if (i == 0) heavy.multiplier = multiplier;
    return number;
}

// Whether a value has more than a few keys, of `count` keys of which so many of the sample have so many pairs alike:
// the share of pairs tells how many keys have a key's value. One part sorts no more than that in one pass
// (bin_sort.cuh).
static __device__ __forceinline__ bool are_repeated(u32 pairs, u32 of_sample, u64 count) {
    constexpr float few = 16;
    const float all = 0.5f * static_cast<float>(of_sample) * static_cast<float>(of_sample);
    return pairs > 1 && static_cast<float>(pairs) * static_cast<float>(count) > few * all;
}

// Shared memory: codes of the sample, and two words for each. Keys in order have a sample in order, and none set aside.
extern "C" __global__ void __launch_bounds__(threads)
    find_heavy(const Key* keys, u64 count, KeyRule<Key> rule, Case task, All* heavy, Plan* plan) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(Key, code);
    __shared__ FindShared shared;
    u32* const cell = reinterpret_cast<u32*>(code + sampled);
    const Input input(keys, count, rule);
    const auto place = [](u32 k) { return k * threads + threadIdx.x; };
    Key own[per_thread];  // all on their way at once: each is in a page of its own
#pragma unroll
    for (u32 k = 0; k < per_thread; ++k) own[k] = keys[count * place(k) / sampled];
    for (u32 i = threadIdx.x; i < cells; i += threads) cell[i] = 0;
    if (threadIdx.x == 0) {
        shared.listed = shared.kept = shared.in_kept = shared.pairs = shared.pairs_kept = 0;
        shared.best = ~0u;
        shared.differ = 0;
    }
#pragma unroll
    for (u32 k = 0; k < per_thread; ++k) code[place(k)] = own[k] = input.code(own[k]);
    __syncthreads();
    bool falls = false, rises = false;
    Key differ = 0;
#pragma unroll
    for (u32 k = 0; k < per_thread; ++k) {
        const Key next = code[place(k) + 1 < sampled ? place(k) + 1 : place(k)];
        differ |= own[k] ^ code[0];
        falls |= own[k] > next;
        rises |= own[k] < next;
    }
    if (__syncthreads_or(falls) == 0 || __syncthreads_or(rises) == 0) return;
    atomicOr(&shared.differ, differ);
    for (u32 k = 0; k < per_thread; ++k) count_alike(code, k * threads + threadIdx.x, cell);
    __syncthreads();
    list_values(cell, shared);
    __syncthreads();
    keep_values(code, shared);
    __syncthreads();
    const u32 light_ones = sampled - shared.in_kept;
    if (threadIdx.x == 0) {
        const u64 lights = count * light_ones / sampled;
        plan->repeats = are_repeated(shared.pairs - shared.pairs_kept, light_ones, lights) ? 1 : 0;
    }
    if (shared.kept == 0) return;
    find_hash(cell, shared);
    __syncthreads();
    const u32 number = write_values(shared, *heavy);
    if (threadIdx.x != 0) return;
    u32 differing = 0;
    for (u32 d = 0; d < key_digits; ++d) differing += (shared.differ >> d * bits & (digits - 1)) != 0 ? 1 : 0;
    const float light = static_cast<float>(light_ones) / sampled;
    if (!is_better(cost_with_heavy(task, light, differing), costs.digits + cost_by_digits(task, differing))) return;
    heavy->number = number;
    plan->heavy = number;
}
