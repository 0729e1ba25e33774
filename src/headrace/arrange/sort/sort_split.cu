// Parts of an array of keys alone, each sorted by one block, which splits it once more by as many of its highest bits
// that differ as leave two or three keys together: 12 bits of 9,000 uniform keys, where digits would take 16 bits of
// words of 4 bytes and 48 of words of 8. An addition tells a key's place among those; then each key counts the lower
// ones beside it. Keys of which too many stay together are sorted digit by digit, as in sort_local.cu.
//
// Bytes moved per key of width w: 2 w.
#include "arrange/sort/block_sort.cuh"
#include "arrange/sort/parts.cuh"

using namespace headrace;

constexpr u32 most_together = 24;

static __device__ constexpr u32 bits_below(u32 count) {
    u32 found = 0;
    while ((2u << found) <= count) ++found;
    return found;
}
// Counters lie where those of sort_block do.
constexpr u32 most_bits =
    bits_below(tile_keys / 2) < bits_below(warps * digits) ? bits_below(tile_keys / 2) : bits_below(warps * digits);
static_assert(!with_values && !with_equals);

struct Together {
    u32 shift;  // bits below those that keys are split by
    u32 count;  // of their values

    __device__ __forceinline__ u32 of(Key key) const { return static_cast<u32>(key >> shift) & (count - 1); }
};

// Bits in which the block's keys differ, as a number of the lowest ones.
static __device__ __forceinline__ u32 bits_that_differ(const Key (&key)[items], u32 count, Key first, u32 (&seen)[2]) {
    u64 differ = 0;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) < count) differ |= static_cast<u64>(key[j] ^ first);
    }
    if (threadIdx.x < 2) seen[threadIdx.x] = 0;
    __syncthreads();
    const u32 low = __reduce_or_sync(tile::all_lanes, static_cast<u32>(differ));
    const u32 high = sizeof(Key) == 8 ? __reduce_or_sync(tile::all_lanes, static_cast<u32>(differ >> 32)) : 0;
    if (tile::lane() == 0) {
        atomicOr(&seen[0], low);
        atomicOr(&seen[1], high);
    }
    __syncthreads();
    const u64 all = static_cast<u64>(seen[1]) << 32 | seen[0];
    return all == 0 ? 0 : 64 - static_cast<u32>(leading_zeros(all));
}

// Counts of keys that stay together, and each key's number among them. False: they are too many.
static __device__ __forceinline__ bool count_together(const Key (&key)[items], u32 (&place)[items / 2], u32 count,
                                                      const Together& together, u32* counters) {
    for (u32 i = threadIdx.x; i < together.count; i += threads) counters[i] = 0;
    __syncthreads();
    u32 most = 0;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 rank = item_place(j) < count ? atomicAdd(&counters[together.of(key[j])], 1u) : 0;
        set_half(place, j, rank);
        most = rank > most ? rank : most;
    }
    return __syncthreads_or(together.shift != 0 && most >= most_together) == 0;
}

// Counts become where they begin.
static __device__ __forceinline__ void scan_counters(const Together& together, u32* counters, Shared& shared) {
    const u32 each = (together.count + threads - 1) / threads;
    const u32 first = threadIdx.x * each < together.count ? threadIdx.x * each : together.count;
    const u32 end = first + each < together.count ? first + each : together.count;
    u32 sum = 0;
    for (u32 i = first; i < end; ++i) sum += counters[i];
    u32 at = start_of(sum, shared);
    for (u32 i = first; i < end; ++i) {
        const u32 some = counters[i];
        counters[i] = at;
        at += some;
    }
    __syncthreads();
}

// Keys to their places in `room`, and then among those that stayed together.
static __device__ __forceinline__ void place_keys(const Key (&key)[items], u32 (&place)[items / 2], u32 count,
                                                  const Together& together, const u32* counters, Key* room) {
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) >= count) continue;
        const u32 at = counters[together.of(key[j])] + half_of(place, j);
        room[at] = key[j];
        replace_half(place, j, at);
    }
    __syncthreads();
    if (together.shift == 0) return;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) >= count) continue;
        const u32 value = together.of(key[j]), own = half_of(place, j);
        const u32 begin = counters[value], end = value + 1 < together.count ? counters[value + 1] : count;
        u32 at = begin;
        for (u32 i = begin; i < end; ++i) at += room[i] < key[j] || (room[i] == key[j] && i < own);
        replace_half(place, j, at);
    }
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) < count) room[half_of(place, j)] = key[j];
    }
    __syncthreads();
}

static __device__ __forceinline__ void split_part(const Part& part, const KeyRule<Key>& rule, const Arrays& arrays,
                                                  const BlockRoom& room, u32 (&seen)[2]) {
    const Key* const in = static_cast<const Key*>(arrays.keys.from(part.place)) + part.begin;
    Key* const out = static_cast<Key*>(arrays.keys.target) + part.begin;
    Key key[items] = {};
    u32 place[items / 2] = {};
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) < part.count) key[j] = in[item_place(j)];
    }
    const u32 differ = bits_that_differ(key, part.count, in[0], seen);
    const u32 taken = differ < most_bits ? differ : most_bits;
    const Together together = {differ - taken, 1u << taken};
    u32* const counters = &room.shared.next[0][0];
    if (count_together(key, place, part.count, together, counters)) {
        scan_counters(together, counters, room.shared);
        place_keys(key, place, part.count, together, counters, room.keys);
        for (u32 at = threadIdx.x; at < part.count; at += threads) out[at] = rule.key(room.keys[at]);
    } else {
        sort_block(key, place, room, rule, part.count, differ);
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (item_place(j) < part.count) out[item_place(j)] = rule.key(key[j]);
        }
    }
    __syncthreads();
}

// As sort_local.cu; the keys are codes already.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    sort_split(List list, KeyRule<Key> rule, Arrays arrays, u32) {
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ u32 seen[2];
    const BlockRoom room = BlockRoom::in(memory);
    const u32 number = *list.number;
    for (u32 i = blockIdx.x; i < number; i += gridDim.x) {
        split_part(list.parts[list.first + i * list.stride], rule, arrays, room, seen);
    }
}
