// Parts of an array, each sorted by one block, which splits it once more by as many of its highest bits that differ as
// leave two or three keys together: 12 bits of 9,000 uniform keys, where digits would take 16 bits of
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

struct Together {
    u32 shift;  // bits below those that keys are split by
    u32 count;  // of their values

    __device__ __forceinline__ u32 of(Key bits) const { return static_cast<u32>(bits >> shift) & (count - 1); }
};

// Keys as they are moved, and the bits that order them.
using Order = SortDigit<Key>;

// Bits in which the block's keys differ, as a number of the lowest ones.
static __device__ __forceinline__ u32 bits_that_differ(const Key (&key)[items], u32 count, Key first,
                                                       const Order& order, u32 (&seen)[2]) {
    u64 differ = 0;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) < count) differ |= static_cast<u64>(order.bits_of(key[j]) ^ order.bits_of(first));
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

// A part that is being split.
struct Splitting {
    u32 count;
    Order order;
    Together together;
    u32* counters;
    BlockRoom room;

    __device__ __forceinline__ u32 of(Key key) const { return together.of(order.bits_of(key)); }
    // Equal keys alone are one as the other.
    __device__ __forceinline__ bool ends_split() const { return !with_values && together.shift == 0; }
};

// Counts of keys that stay together, and each key's number among them. False: they are too many.
static __device__ __forceinline__ bool count_together(const Key (&key)[items], u32 (&place)[items / 2],
                                                      const Splitting& split) {
    for (u32 i = threadIdx.x; i < split.together.count; i += threads) split.counters[i] = 0;
    __syncthreads();
    u32 most = 0;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 rank = item_place(j) < split.count ? atomicAdd(&split.counters[split.of(key[j])], 1u) : 0;
        set_half(place, j, rank);
        most = rank > most ? rank : most;
    }
    return __syncthreads_or(!split.ends_split() && most >= most_together) == 0;
}

// Counts become where they begin.
static __device__ __forceinline__ void scan_counters(const Splitting& split) {
    const u32 count = split.together.count;
    const u32 each = (count + threads - 1) / threads;
    const u32 first = threadIdx.x * each < count ? threadIdx.x * each : count;
    const u32 end = first + each < count ? first + each : count;
    u32 sum = 0;
    for (u32 i = first; i < end; ++i) sum += split.counters[i];
    u32 at = start_of(sum, split.room.shared);
    for (u32 i = first; i < end; ++i) {
        const u32 some = split.counters[i];
        split.counters[i] = at;
        at += some;
    }
    __syncthreads();
}

// Keys, and where they came from, to their places.
static __device__ __forceinline__ void put_keys(const Key (&key)[items], const u32 (&place)[items / 2],
                                                const Splitting& split) {
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) >= split.count) continue;
        split.room.keys[half_of(place, j)] = key[j];
        if constexpr (with_values) split.room.rows[half_of(place, j)] = static_cast<u16>(item_place(j));
    }
    __syncthreads();
}

// Where a key goes among those that stayed together, itself being at `own`.
static __device__ __forceinline__ u32 place_among(Key key, u32 own, u32 row, const Splitting& split) {
    const Key bits_of_key = split.order.bits_of(key);
    const u32 value = split.together.of(bits_of_key);
    const u32 begin = split.counters[value];
    const u32 end = value + 1 < split.together.count ? split.counters[value + 1] : split.count;
    u32 at = begin;
    for (u32 i = begin; i < end; ++i) {
        const Key other = split.order.bits_of(split.room.keys[i]);
        const bool is_before = with_values ? split.room.rows[i] < row : i < own;
        at += other < bits_of_key || (other == bits_of_key && is_before);
    }
    return at;
}

static __device__ __forceinline__ void place_keys(const Key (&key)[items], u32 (&place)[items / 2],
                                                  const Splitting& split) {
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) >= split.count) continue;
        replace_half(place, j, split.counters[split.of(key[j])] + half_of(place, j));
    }
    put_keys(key, place, split);
    if (split.ends_split()) return;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) >= split.count) continue;
        replace_half(place, j, place_among(key[j], half_of(place, j), item_place(j), split));
    }
    __syncthreads();
    put_keys(key, place, split);
}

// Digit by digit, to the same places.
static __device__ __forceinline__ void sort_keys(Key (&key)[items], u32 (&row)[items / 2], const Splitting& split,
                                                 u32 differ) {
#pragma unroll
    for (u32 j = 0; j < items; ++j) set_half(row, j, item_place(j));
    sort_block(key, row, split.room, split.order.rule, split.count, differ);
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        split.room.keys[item_place(j)] = key[j];
        if constexpr (with_values) split.room.rows[item_place(j)] = static_cast<u16>(half_of(row, j));
    }
    __syncthreads();
}

static __device__ __forceinline__ void split_part(const Part& part, const Order& order, const Arrays& arrays,
                                                  u32 writes_keys, const BlockRoom& room, u32 (&seen)[2]) {
    const Key* const in = static_cast<const Key*>(arrays.keys.from(part.place)) + part.begin;
    Key key[items] = {};
    u32 place[items / 2] = {};
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (item_place(j) < part.count) key[j] = in[item_place(j)];
    }
    const u32 differ = bits_that_differ(key, part.count, in[0], order, seen);
    const u32 taken = differ < most_bits ? differ : most_bits;
    const Splitting split = {part.count, order, {differ - taken, 1u << taken}, &room.shared.next[0][0], room};
    if (count_together(key, place, split)) {
        scan_counters(split);
        place_keys(key, place, split);
    } else {
        sort_keys(key, place, split, differ);
    }
    if (writes_keys != 0) {
        Key* const out = static_cast<Key*>(arrays.keys.target) + part.begin;
        for (u32 at = threadIdx.x; at < part.count; at += threads) out[at] = order.given(room.keys[at]);
    }
    __syncthreads();
    if constexpr (with_values) {
        const Step step = {0, part.place, Place::target, 0};
        const Fetch fetch = {room.rows, room.keys, part.begin, part.count};
#pragma unroll 1
        for (u32 c = 0; c < arrays.columns; ++c) fetch_column(arrays.column[c], step, fetch);
        __syncthreads();
    }
}

// As sort_local.cu, of keys that are codes already.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    sort_split(List list, KeyRule<Key> rule, Arrays arrays, u32 writes_keys) {
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ u32 seen[2];
    const BlockRoom room = BlockRoom::in(memory);
    const u32 number = *list.number;
    for (u32 i = blockIdx.x; i < number; i += gridDim.x) {
        split_part(list.parts[list.first + i * list.stride], {rule, 0, 0}, arrays, writes_keys, room, seen);
    }
}
