// What a block does with one tile of keys in registers: counts its digits, tells each key its place in the tile, and
// writes out what lies in shared memory at those places. Bytes moved: values in, keys and values out.
#pragma once
#include "arrange/multisplit/split_columns.cuh"
#include "arrange/multisplit/split_place.cuh"
#include "arrange/multisplit/split_rank.cuh"
#include "core/tile/block.cuh"

namespace headrace {

constexpr u32 threads = HR_THREADS;
constexpr u32 items = HR_ITEMS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 tile_keys = threads * items;
constexpr bool with_values = HR_VALUES != 0;
constexpr u32 value_bytes = 4;  // of shared memory for each key
static_assert(threads >= digits && (HR_VALUES == 0 || HR_PLACES != by_reserving) && items % 2 == 0 &&
              tile_keys <= 1 << 16);

struct Shared {
    u64 to[digits];           // where place 0 of the tile would go, were it of this digit
    u64 base[digits];         // where the chunk's next key of a digit goes in the result
    u32 next[warps][digits];  // where a warp's next key of a digit goes in the tile
    u32 totals[warps];
    u32 tile;
};

struct Work {
    const Key* in;
    Key* out;
    u64 count;
    const Digit& digit;
    const Places& places;
    const Columns& columns;
    Shared& shared;
    Key* room;
};

// What the compiler knows of a word is forgotten, so that it computes anew what it would otherwise keep in a register:
// each key's digit, say.
template <class Word>
static __device__ __forceinline__ void forget([[maybe_unused]] Word& word) {
#if defined(__CUDACC__)
    if constexpr (sizeof(Word) == 4) asm volatile("" : "+r"(word));
    if constexpr (sizeof(Word) == 8) asm volatile("" : "+l"(word));
#endif
}

struct Tile {
    u64 begin;
    u32 count;  // of its keys
};

// Item j of a lane, from the tile's first.
static __device__ __forceinline__ u32 item_place(u32 j) {
    return (tile::warp() * items + j) * tile::lanes + tile::lane();
}

// One item of each lane's, those that are not there left as they are.
template <bool whole, class Item>
static __device__ __forceinline__ void load_items(Item (&item)[items], const Item* in, const Tile& tile) {
    const Item* const mine = in + tile.begin + item_place(0);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (whole || item_place(j) < tile.count) item[j] = mine[j * tile::lanes];
    }
}

// Of a whole tile; the last one has its own code, which loads them itself.
static __device__ __forceinline__ void load_keys(Key (&key)[items], const Key* in, const Tile& tile) {
    if (tile.count == tile_keys) load_items<true>(key, in, tile);
}

// Of keys that are not there the last, so they go behind all.
template <bool whole>
static __device__ __forceinline__ u32 digit_at(const Key (&key)[items], u32 j, const Digit& digit, const Tile& tile) {
    if (!whole && item_place(j) >= tile.count) return digits - 1;
    return digit.of(key[j]);
}

struct Found {
    u32 start;  // of the thread's digit in the tile
    u32 count;
};

// Where a thread's digit begins, of which there are `count`.
static __device__ __forceinline__ u32 start_of(u32 count, Shared& shared) {
    const u32 upto = tile::scan_warp<Sum<u32>>(count);
    const u32 warp_total = tile::shuffle(upto, tile::lanes - 1);
    return tile::scan_warps<Sum<u32>, threads>(warp_total, shared.totals).before + upto - count;
}

// For each thread below `digits`, its digit. Then `next` is where each warp's keys begin in the tile.
template <bool whole>
static __device__ __forceinline__ Found count_digits(const Key (&key)[items], const Work& work, const Tile& tile) {
    Shared& shared = work.shared;
    u32* const own = shared.next[tile::warp()];
    for (u32 d = tile::lane(); d < digits; d += tile::lanes) own[d] = 0;
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < items; ++j) atomicAdd(&own[digit_at<whole>(key, j, work.digit, tile)], 1u);
    __syncthreads();
    const u32 d = threadIdx.x;
    u32 count = 0;
    if (d < digits) {
#pragma unroll
        for (u32 w = 0; w < warps; ++w) count += shared.next[w][d];
    }
    const u32 start = start_of(count, shared);
    if (d < digits) {
        u32 at = start;
#pragma unroll
        for (u32 w = 0; w < warps; ++w) {
            const u32 some = shared.next[w][d];
            shared.next[w][d] = at;
            at += some;
        }
    }
    return {start, d == digits - 1 ? count - (tile_keys - tile.count) : count};
}

// The same where order does not matter: an addition a key tells its rank in its digit, and one for all of a warp's if
// they are alike. (Stehle and Jacobsen 2017, "A memory bandwidth-efficient hybrid radix sort on GPUs", section 4.)
template <bool whole>
static __device__ __forceinline__ Found rank_anyhow(const Key (&key)[items], const Work& work, const Tile& tile,
                                                    u32 (&rank)[items / 2]) {
    u32* const counters = work.shared.next[0];
    const u32 d = threadIdx.x;
    if (d < digits) counters[d] = 0;
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 digit = digit_at<whole>(key, j, work.digit, tile);
        u32 own = 0;
        if (whole && __all_sync(tile::all_lanes, digit == tile::shuffle(digit, 0))) {
            if (tile::lane() == 0) own = atomicAdd(&counters[digit], tile::lanes);
            own = tile::shuffle(own, 0) + tile::lane();
        } else if (whole || item_place(j) < tile.count) {
            own = atomicAdd(&counters[digit], 1u);
        }
        rank[j / 2] |= own << (j % 2 * 16);
    }
    __syncthreads();
    const u32 count = d < digits ? counters[d] : 0;
    const u32 start = start_of(count, work.shared);
    if (d < digits) counters[d] = start;
    return {start, count};
}

// What lies at the places [first, end) of the tile to where the keys there belong; `items_there` is for place `first`.
template <bool whole, bool all, class Item>
static __device__ __forceinline__ void write_out(const Work& work, const Item* items_there, Item* out, const Tile& tile,
                                                 u32 first, u32 end) {
    Item* const mine = out + threadIdx.x;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = j * threads + threadIdx.x;
        if ((whole || at < tile.count) && (all || (at >= first && at < end))) {
            const u64 to = work.shared.to[work.digit.of(work.room[at])];
            (mine + to)[j * threads] = items_there[at - first];
        }
    }
}

static __device__ __forceinline__ u32 half_of(const u32 (&halves)[items / 2], u32 j) {
    return halves[j / 2] >> (j % 2 * 16) & 0xFFFF;
}

// A column's values, as many at a time as there is room for; each thread holds a few at a time.
template <bool whole, class Value>
static __device__ __forceinline__ void move_values(const Work& work, u32 column, const Tile& tile,
                                                   const u32 (&place)[items / 2]) {
    constexpr bool all = sizeof(Value) <= value_bytes;
    constexpr u32 held = all ? tile_keys : tile_keys * value_bytes / sizeof(Value);
    constexpr u32 group = all ? items : 2;
    u32 own[items / 2];  // made anew for each column: what the compiler would keep of all columns has no room
#pragma unroll
    for (u32 i = 0; i < items / 2; ++i) forget(own[i] = place[i]);
    const Value* const in = static_cast<const Value*>(work.columns.from[column]) + tile.begin + item_place(0);
    Value* const there = reinterpret_cast<Value*>(work.room + tile_keys);
#pragma unroll 1
    for (u32 first = 0; first < tile_keys; first += held) {
        if (!all || column != 0) __syncthreads();  // the values before are read
#pragma unroll
        for (u32 j = 0; j < items; j += group) {
            Value value[group];
#pragma unroll
            for (u32 k = 0; k < group; ++k) {
                const bool is_there = all || half_of(own, j + k) - first < held;
                if (is_there && (whole || item_place(j + k) < tile.count)) value[k] = in[(j + k) * tile::lanes];
            }
#pragma unroll
            for (u32 k = 0; k < group; ++k) {
                const u32 at = half_of(own, j + k) - first;
                if ((all || at < held) && (whole || item_place(j + k) < tile.count)) there[at] = value[k];
            }
        }
        __syncthreads();
        write_out<whole, all>(work, there, static_cast<Value*>(work.columns.to[column]), tile, first, first + held);
    }
}

template <bool whole>
static __device__ __forceinline__ void move_columns(const Work& work, const Tile& tile, const u32 (&place)[items / 2]) {
#pragma unroll 1
    for (u32 column = 0; column < work.columns.count; ++column) {
        const u32 width = work.columns.width[column];
        if (width == 4) move_values<whole, u32>(work, column, tile, place);
        if (width == 8) move_values<whole, u64>(work, column, tile, place);
        if (width == 1) move_values<whole, u8>(work, column, tile, place);
        if (width == 2) move_values<whole, u16>(work, column, tile, place);
        if (width == 16) move_values<whole, uint4>(work, column, tile, place);
    }
}

}  // namespace headrace
