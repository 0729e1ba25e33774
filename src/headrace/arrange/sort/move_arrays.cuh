// What a step of a sort writes of a tile: keys, at the end as they were given, and what goes with them; or where they
// came from, which is read from nowhere.
#pragma once
#include "arrange/multisplit/split_tile.cuh"
#include "arrange/sort/plan.cuh"

namespace headrace {

// The arrays of a step, its part from `begin` on. A source that is null stays so.
static __device__ __forceinline__ void choose_columns(Columns& columns, const Arrays& arrays, const Step& step,
                                                      u64 begin) {
    if (threadIdx.x != 0) return;
    columns.count = arrays.columns;
#pragma unroll 1
    for (u32 c = 0; c < arrays.columns; ++c) {
        const Moved& moved = arrays.column[c];
        const u8* const from = static_cast<const u8*>(moved.from(step.from));
        columns.from[c] = from == nullptr ? nullptr : from + begin * moved.width;
        columns.to[c] = moved.to(step.to);
        columns.width[c] = moved.width;
    }
}

// `out_rule` makes what is moved what is written: the sort's rule in its last step, before that the one that changes
// nothing. (A test of that for each key, or for all of them, has the compiler keep a tile's words for both cases.)
template <bool whole>
static __device__ __forceinline__ void write_keys(const Work& work, const Tile& tile, const KeyRule<Key>& out_rule) {
    if (work.out == nullptr) return;
    Key* const mine = work.out + threadIdx.x;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = j * threads + threadIdx.x;
        if (!whole && at >= tile.count) continue;
        const Key key = work.room[at];
        const u64 to = work.shared.to[work.digit.of(key)];
        (mine + to)[j * threads] = with_equals ? key : out_rule.key(key);
    }
}

// Numbers of rows, of which the tile's first is `begin`, as a column of which nothing is read.
template <bool whole>
static __device__ __forceinline__ void move_rows(const Work& work, u32 column, const Tile& tile,
                                                 const u32 (&place)[items / 2], u32 begin) {
    u32 own[items / 2];
#pragma unroll
    for (u32 i = 0; i < items / 2; ++i) forget(own[i] = place[i]);
    u32* const there = reinterpret_cast<u32*>(work.room + tile_keys);
    if (column != 0) __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (whole || item_place(j) < tile.count) there[half_of(own, j)] = begin + item_place(j);
    }
    __syncthreads();
    write_out<whole, true>(work, there, static_cast<u32*>(work.columns.to[column]), tile, 0, tile_keys);
}

template <bool whole>
static __device__ __forceinline__ void move_all(const Work& work, const Tile& tile, const u32 (&place)[items / 2],
                                                u64 begin) {
#pragma unroll 1
    for (u32 c = 0; c < work.columns.count; ++c) {
        const u32 width = work.columns.width[c];
        if (work.columns.from[c] == nullptr) {
            move_rows<whole>(work, c, tile, place, static_cast<u32>(begin + tile.begin));
            continue;
        }
        if (width == 4) move_values<whole, u32>(work, c, tile, place);
        if (width == 8) move_values<whole, u64>(work, c, tile, place);
        if (width == 1) move_values<whole, u8>(work, c, tile, place);
        if (width == 2) move_values<whole, u16>(work, c, tile, place);
        if (width == 16) move_values<whole, uint4>(work, c, tile, place);
    }
}

}  // namespace headrace
