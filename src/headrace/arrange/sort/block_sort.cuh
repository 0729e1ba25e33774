// Keys of a block in registers, a warp's side by side, sorted by their low bits digit by digit, and with them which row
// each came from. A step is a tile's in sort_pass.cu, only that the tile stays: ranks by ballots, an exchange through
// shared memory. Digits that all keys share are left out. (Stehle and Jacobsen 2017, section 4.4, "local sort".)
//
// What goes with keys is fetched by those rows at the end, whatever its width: the rows of a block lie together.
#pragma once
#include "arrange/sort/digit.cuh"
#define HR_PLACES by_look_back
#include "arrange/sort/move_arrays.cuh"

namespace headrace {

// A tile's keys, and where they came from, in its first tile_keys x (sizeof(Key) + 2) bytes.
struct BlockRoom {
    Key* keys;
    u16* rows;
    Shared& shared;

    static __device__ __forceinline__ BlockRoom in(void* memory) {
        u8* const bytes = static_cast<u8*>(memory);
        constexpr u32 keys = tile_keys * sizeof(Key), rows = with_values ? tile_keys * 2 : 0;
        return {reinterpret_cast<Key*>(bytes), reinterpret_cast<u16*>(bytes + keys),
                *reinterpret_cast<Shared*>(bytes + keys + rows)};
    }
};

// Item j is set before j + 1.
static __device__ __forceinline__ void set_half(u32 (&halves)[items / 2], u32 j, u32 value) {
    halves[j / 2] = j % 2 == 0 ? value : halves[j / 2] | value << 16;
}

// The same where the other half is to stay.
static __device__ __forceinline__ void replace_half(u32 (&halves)[items / 2], u32 j, u32 value) {
    const u32 shift = j % 2 * 16;
    halves[j / 2] = (halves[j / 2] & ~(0xFFFFu << shift)) | value << shift;
}

// The digit of each key is ranked; keys and rows come back in its order.
static __device__ __forceinline__ void exchange(Key (&key)[items], u32 (&row)[items / 2], const Work& work,
                                                const Tile& tile, u16* rows) {
    rank_items<items>(
        work.shared.next[tile::warp()], [&](u32 j) { return digit_at<false>(key, j, work.digit, tile); },
        [&](u32 j, u32 at) {
            work.room[at] = key[j];
            if constexpr (with_values) rows[at] = static_cast<u16>(half_of(row, j));
        });
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        key[j] = work.room[item_place(j)];
        if constexpr (with_values) set_half(row, j, rows[item_place(j)]);
    }
}

// The first `count` keys, by their lowest `low_bits` bits. All threads; barriers inside.
static __device__ __forceinline__ void sort_block(Key (&key)[items], u32 (&row)[items / 2], const BlockRoom& room,
                                                  const KeyRule<Key>& rule, u32 count, u32 low_bits) {
    const Tile tile = {0, count};
    const Columns columns = {};
    const Places places = {};
#pragma unroll 1
    for (u32 shift = 0; shift < low_bits; shift += bits) {
        const Digit digit = digit_at_shift(rule, shift, low_bits - shift < bits ? low_bits - shift : bits);
        const Work work{nullptr, nullptr, 0, digit, places, columns, room.shared, room.keys};
        const Found found = count_digits<false>(key, work, tile);
        if (__syncthreads_or(threadIdx.x < digits && found.count == count) != 0) continue;
        exchange(key, row, work, tile, room.rows);
    }
}

template <class Item>
static __device__ __forceinline__ Item item_of(const Item* in, u32 row, u64 begin, u32 stride) {
    if constexpr (sizeof(Item) >= 4) {
        if (in == nullptr) return static_cast<Item>(begin + row);
    }
    return in[(begin + row) * stride];
}

// A column's items by the rows of the block's keys, the first of which is at `begin`, `group` at a time; in place all
// at once, and read before one is written. Items of 16 bytes come as two halves, `stride` apart.
template <u32 group, class Item>
static __device__ __forceinline__ void fetch_items(const Item* in, Item* out, const u32 (&row)[items / 2], u64 begin,
                                                   u32 count, u32 stride) {
#pragma unroll
    for (u32 first = 0; first < items; first += group) {
        Item item[group];
#pragma unroll
        for (u32 k = 0; k < group; ++k) {
            if (item_place(first + k) < count) item[k] = item_of(in, half_of(row, first + k), begin, stride);
        }
        if (group == items) __syncthreads();
#pragma unroll
        for (u32 k = 0; k < group; ++k) {
            if (item_place(first + k) < count) out[(begin + item_place(first + k)) * stride] = item[k];
        }
    }
}

template <class Item>
static __device__ __forceinline__ void fetch_any(const void* from, void* to, const u32 (&row)[items / 2], u64 begin,
                                                 u32 count, u32 stride) {
    constexpr u32 group = items % 4 == 0 && items > 4 ? 4 : items % 6 == 0 ? 6 : 2;
    const Item* const in = static_cast<const Item*>(from);
    if (from == to) {
        fetch_items<items>(in, static_cast<Item*>(to), row, begin, count, stride);
    } else {
        fetch_items<group>(in, static_cast<Item*>(to), row, begin, count, stride);
    }
}

static __device__ __forceinline__ void fetch_column(const Moved& moved, const Step& step, const u32 (&row)[items / 2],
                                                    u64 begin, u32 count) {
    const void* const from = moved.from(step.from);
    void* const to = moved.to(step.to);
    if (moved.width == 1) fetch_any<u8>(from, to, row, begin, count, 1);
    if (moved.width == 2) fetch_any<u16>(from, to, row, begin, count, 1);
    if (moved.width == 4) fetch_any<u32>(from, to, row, begin, count, 1);
    if (moved.width == 8) fetch_any<u64>(from, to, row, begin, count, 1);
    for (u32 half = 0; half < 2 && moved.width == 16; ++half) {
        fetch_any<u64>(static_cast<const u64*>(from) + half, static_cast<u64*>(to) + half, row, begin, count, 2);
    }
}

}  // namespace headrace
