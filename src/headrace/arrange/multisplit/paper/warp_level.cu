// Splits keys warp by warp: the direct and the warp-level multisplit, for up to 32 digits (dissertation of Ashkiani
// 2017, sections 3.5.2 and 3.5.3).
//
// Each warp has its own chunk of keys, so warps never wait for each other. Ballots count a warp's digits (algorithm 3),
// the scan of arrange/multisplit/gpu/count.cu follows, and ballots compute the position of each key (algorithm 4). The
// direct variant writes keys in input order. The reordering variant sorts a tile in shared memory first, so that keys
// of a digit are written side by side.
//
// Bytes moved per key of width w, with values of width v: 3 w + 2 v; the direct variant writes one sector per key.
#include "arrange/multisplit/gpu/split_rank.cuh"
#include "arrange/multisplit/gpu/split_task.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 items = HR_ITEMS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 tile_keys = tile::lanes * items;  // keys of a warp's tile
constexpr bool reorders = HR_REORDER != 0;
static_assert(bits <= 5);

struct WarpChunk {
    u64 begin, end;
    u32 number;
};

HR_FN WarpChunk chunk_of_warp(u64 count, u64 length) {
    const u32 number = blockIdx.x * warps + tile::warp();
    const u64 begin = number * length < count ? number * length : count;
    return {begin, begin + length < count ? begin + length : count, number};
}

// Returns the keys of a row whose digit is the lane's number. `there`: whether the lane has a key.
HR_FN u32 count_row(u32 digit, bool there, const OwnBits& own) {
    return static_cast<u32>(__popc(lanes_of_own<bits>(digit, own) & __ballot_sync(tile::all_lanes, there)));
}

// `counts`: keys of each warp's chunk and digit. `totals`: as in split_count. `length`: keys per chunk, a multiple of a
// tile.
extern "C" __global__ void __launch_bounds__(threads)
    count_warps(const Key* keys, u64 count, Digit digit, u64 length, u32* counts, u64* totals) {
    const OwnBits own;
    const WarpChunk chunk = chunk_of_warp(count, length);
    u32 found = 0, outside = 0;
    for (u64 at = chunk.begin; at < chunk.end; at += tile_keys) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            const u64 i = at + j * tile::lanes + tile::lane();
            const bool there = i < chunk.end;
            const Key key = there ? keys[i] : Key{};
            found += count_row(digit.of(key), there, own);
            outside += there && digit.is_stray(key);
        }
    }
    if (tile::lane() < digits) {
        counts[static_cast<u64>(chunk.number) * digits + tile::lane()] = found;
        if (found != 0) atomicAdd(&totals[tile::lane()], static_cast<u64>(found));
    }
    if (outside != 0) atomicAdd(&totals[digits], static_cast<u64>(outside));
}

struct WarpShared {
    u64 base[warps][digits];  // output position of a digit's key, minus its position in the warp's tile
    u32 next[warps][digits];
};

// State of a warp that moves a tile. The rank of an item, in registers, counts in its digit, or in the tile if the
// variant reorders.
struct Move {
    u64 begin;
    u32 count;
    const Digit& digit;
    const u64* base;
    const Key* staging;  // sorted keys of the tile
};

template <class Item>
HR_FN void move_items(const Item* in, Item* out, const Move& move, const Key (&key)[items], const u32 (&rank)[items],
                      Item* staging) {
    Item item[items];
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = j * tile::lanes + tile::lane();
        if (at < move.count) item[j] = in[move.begin + at];
    }
    if constexpr (!reorders) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (j * tile::lanes + tile::lane() < move.count) out[move.base[move.digit.of(key[j])] + rank[j]] = item[j];
        }
    } else {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (j * tile::lanes + tile::lane() < move.count) staging[rank[j]] = item[j];
        }
        __syncwarp();
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            const u32 at = j * tile::lanes + tile::lane();
            if (at < move.count) out[move.base[move.digit.of(move.staging[at])] + at] = staging[at];
        }
        __syncwarp();
    }
}

template <class Item>
HR_FN void move_column(const Columns& columns, u32 c, const Move& move, const Key (&key)[items],
                       const u32 (&rank)[items], void* staging) {
    move_items(static_cast<const Item*>(columns.from[c]), static_cast<Item*>(columns.to[c]), move, key, rank,
               static_cast<Item*>(staging));
}

HR_FN void move_columns(const Columns& columns, const Move& move, const Key (&key)[items], const u32 (&rank)[items],
                        void* staging) {
#pragma unroll 1
    for (u32 c = 0; c < columns.count; ++c) {
        const u32 width = columns.width[c];
        if (width == 4) move_column<u32>(columns, c, move, key, rank, staging);
        if (width == 8) move_column<u64>(columns, c, move, key, rank, staging);
        if (width == 1) move_column<u8>(columns, c, move, key, rank, staging);
        if (width == 2) move_column<u16>(columns, c, move, key, rank, staging);
        if (width == 16) move_column<uint4>(columns, c, move, key, rank, staging);
    }
}

// Splits one tile of a warp. `start`: position of the lane's digit in the tile, 0 in the direct variant.
HR_FN void split_tile(const Key* in, Key* out, const Columns& columns, const Move& tile, u64* base, u32* next,
                      Key* staging) {
    const OwnBits own;
    Key key[items] = {};
    u32 rank[items], found = 0;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = j * tile::lanes + tile::lane();
        if (at < tile.count) key[j] = in[tile.begin + at];
        found += count_row(tile.digit.of(key[j]), at < tile.count, own);
    }
    const u32 start = reorders ? tile::scan_warp<Sum<u32>>(tile::lane() < digits ? found : 0) - found : 0;
    if (tile::lane() < digits) {
        next[tile::lane()] = start;
        base[tile::lane()] -= start;
    }
    __syncwarp();
    // Keys beyond the end of the tile get the last digit, and so the last positions.
    rank_items<items>(
        next, [&](u32 j) { return j * tile::lanes + tile::lane() < tile.count ? tile.digit.of(key[j]) : digits - 1; },
        [&](u32 j, u32 at) { rank[j] = at; });
    if constexpr (reorders) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (j * tile::lanes + tile::lane() < tile.count) staging[rank[j]] = key[j];
        }
        __syncwarp();
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            const u32 at = j * tile::lanes + tile::lane();
            if (at < tile.count) out[base[tile.digit.of(staging[at])] + at] = staging[at];
        }
    } else {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (j * tile::lanes + tile::lane() < tile.count) out[base[tile.digit.of(key[j])] + rank[j]] = key[j];
        }
    }
    move_columns(columns, tile, key, rank, staging + tile_keys);
    __syncwarp();
    if (tile::lane() < digits) base[tile::lane()] += start + found;
    __syncwarp();
}

// `bases`: output position of each warp's first key of each digit. Dynamic shared memory, if the variant reorders: for
// each warp the keys of a tile, and as many values of `widest` bytes, 8 or 16.
extern "C" __global__ void __launch_bounds__(threads)
    split_warps(const Key* in, Key* out, u64 count, Digit digit, u64 length, const u64* bases, Columns columns,
                u32 widest) {
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ WarpShared shared;
    u8* const own = reinterpret_cast<u8*>(memory) + tile::warp() * tile_keys * (sizeof(Key) + widest);
    Key* const staging = reinterpret_cast<Key*>(own);
    const WarpChunk chunk = chunk_of_warp(count, length);
    u64* const base = shared.base[tile::warp()];
    if (tile::lane() < digits) base[tile::lane()] = bases[static_cast<u64>(chunk.number) * digits + tile::lane()];
    __syncwarp();
    for (u64 at = chunk.begin; at < chunk.end; at += tile_keys) {
        const u64 left = chunk.end - at;
        const u32 here = left < tile_keys ? static_cast<u32>(left) : tile_keys;
        split_tile(in, out, columns, {at, here, digit, base, staging}, base, shared.next[tile::warp()], staging);
    }
}
