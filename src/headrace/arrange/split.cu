// Keys, and values with them, in the order of their digits: what a block does with a tile, again and again.
//
// A tile's keys are in registers, a warp's side by side. Each warp counts its digits in shared memory; a scan over the
// digits and the warps tells where in the tile each warp's keys of a digit begin; ballots tell the rest
// (split_rank.cuh). Keys go to their places in shared memory, so that those of a digit lie side by side, and from there
// to the result, while the next tile's keys are on their way. (Dissertation of Ashkiani 2017, section 3.5, block-level
// multisplit. What is counted before it is ranked: Adinets and Merrill 2022, "Onesweep", section 4.)
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#include "arrange/split_place.cuh"
#include "arrange/split_rank.cuh"
#include "core/tile/block.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 items = HR_ITEMS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 tile_keys = threads * items;
constexpr u32 most_columns = 8;
static_assert(threads >= digits);

struct Columns {
    const void* from[most_columns];
    void* to[most_columns];
    u32 width[most_columns];
    u32 count;
    u32 unused;
};

struct Shared {
    u32 next[warps][digits];  // where a warp's next key of a digit goes in the tile
    u64 to[digits];           // where place 0 of the tile would go, were it of this digit
    u64 base[digits];         // where the chunk's next key of a digit goes in the result
    u32 totals[warps];
    u32 tile;
};

// Item j of a lane, from the tile's first.
static __device__ __forceinline__ u32 item_place(u32 j) {
    return (tile::warp() * items + j) * tile::lanes + tile::lane();
}

struct Tile {
    u64 begin;
    u32 count;  // of its keys
};

static __device__ __forceinline__ void load_keys(Key (&key)[items], const Key* in, const Tile& tile) {
    const Key* const mine = in + tile.begin;
    if (tile.count == tile_keys) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) key[j] = __ldcs(&mine[item_place(j)]);
    } else {
#pragma unroll
        for (u32 j = 0; j < items; ++j) key[j] = item_place(j) < tile.count ? mine[item_place(j)] : Key{};
    }
}

// A thread's digits, 8 bits each: of keys that are not there the last, so they go behind all.
static __device__ __forceinline__ u32 digit_at(const Key (&key)[items], u32 j, const Digit& digit, const Tile& tile) {
    if (tile.count != tile_keys && item_place(j) >= tile.count) return digits - 1;
    return digit.of(key[j]);
}

// How many keys of a thread's digit the tile has. Then `next` is where each warp's begin in the tile.
static __device__ __forceinline__ u32 count_digits(const Key (&key)[items], const Digit& digit, const Tile& tile,
                                                   Shared& shared, u32& start) {
    u32* const own = shared.next[tile::warp()];
    for (u32 d = tile::lane(); d < digits; d += tile::lanes) own[d] = 0;
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < items; ++j) atomicAdd(&own[digit_at(key, j, digit, tile)], 1u);
    __syncthreads();
    const u32 d = threadIdx.x;
    u32 count = 0;
    if (d < digits) {
#pragma unroll
        for (u32 w = 0; w < warps; ++w) count += shared.next[w][d];
    }
    const u32 upto = tile::scan_warp<Sum<u32>>(count);
    const u32 warp_total = tile::shuffle(upto, tile::lanes - 1);
    start = tile::scan_warps<Sum<u32>, threads>(warp_total, shared.totals).before + upto - count;
    if (d < digits) {
        u32 at = start;
#pragma unroll
        for (u32 w = 0; w < warps; ++w) {
            const u32 some = shared.next[w][d];
            shared.next[w][d] = at;
            at += some;
        }
    }
    return d == digits - 1 ? count - (tile_keys - tile.count) : count;
}

template <class Value>
static __device__ __forceinline__ void move_values(const Value* in, Value* out, const u16 (&place)[items],
                                                   const u8 (&digit)[items], const Tile& tile, const Shared& shared,
                                                   Value* room, u32 bytes) {
    const u32 held = bytes / sizeof(Value);
    for (u32 first = 0; first < tile_keys; first += held) {
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            const u32 at = place[j] - first;
            if (at < held && item_place(j) < tile.count) room[at] = in[tile.begin + item_place(j)];
        }
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            const u32 at = j * threads + threadIdx.x;
            if (at - first < held && at < tile.count) out[shared.to[digit[j]] + at] = room[at - first];
        }
    }
}

static __device__ __forceinline__ void move_columns(const Columns& columns, const u16 (&place)[items],
                                                    const u8 (&digit)[items], const Tile& tile, const Shared& shared,
                                                    void* room, u32 bytes) {
    for (u32 c = 0; c < columns.count; ++c) {
        const auto move = [&]<class Value>(Value*) {
            move_values(static_cast<const Value*>(columns.from[c]), static_cast<Value*>(columns.to[c]), place, digit,
                        tile, shared, static_cast<Value*>(room), bytes);
        };
        const u32 width = columns.width[c];
        if (width == 1) move(static_cast<u8*>(nullptr));
        if (width == 2) move(static_cast<u16*>(nullptr));
        if (width == 4) move(static_cast<u32*>(nullptr));
        if (width == 8) move(static_cast<u64*>(nullptr));
        if (width == 16) move(static_cast<uint4*>(nullptr));
    }
}

// Blocks of `threads`; dynamic shared memory: Shared, and a tile's keys.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    split(const Key* in, Key* out, u64 count, Digit digit, Places places, Columns columns) {
    HR_DYNAMIC_SHARED(uint4, memory);
    Key* const room = reinterpret_cast<Key*>(memory);
    Shared& shared = *reinterpret_cast<Shared*>(room + tile_keys);
    LookBack look_back(places);
    const u32 d = threadIdx.x;
    u64 at = 0, end = count;
    const auto take = [&](u64 from) {
        const u64 left = from < end ? end - from : 0;
        return Tile{from, left < tile_keys ? static_cast<u32>(left) : tile_keys};
    };
    if constexpr (HR_PLACES == by_chunks) {
        at = blockIdx.x * places.chunk;
        end = at + places.chunk < count ? at + places.chunk : count;
        if (d < digits) shared.base[d] = places.starts[static_cast<u64>(blockIdx.x) * digits + d];
    } else {
        if (d < digits && HR_PLACES == by_look_back) shared.base[d] = places.starts[d];
        if (d == 0) shared.tile = look_back.take_tile();
        __syncthreads();
        at = static_cast<u64>(shared.tile) * tile_keys;
    }
    Key key[items];
    load_keys(key, in, take(at));
    while (at < end) {
        const Tile tile = take(at);
        const u32 number = static_cast<u32>(at / tile_keys);
        u32 start;
        const u32 found = count_digits(key, digit, tile, shared, start);
        if (HR_PLACES == by_look_back && d < digits) look_back.post(number, d, found);
        u64 to = 0;
        if (HR_PLACES == by_reserving && d < digits && found != 0)
            to = atomicAdd(&places.starts[d], static_cast<u64>(found));
        if (HR_PLACES != by_chunks && d == 0) shared.tile = look_back.take_tile();
        __syncthreads();
        u16 place[items];
        rank_items<items>(
            shared.next[tile::warp()], [&](u32 j) { return digit_at(key, j, digit, tile); },
            [&](u32 j, u32 at) {
                room[at] = key[j];
                if constexpr (HR_VALUES != 0) place[j] = static_cast<u16>(at);
            });
        if constexpr (HR_PLACES == by_chunks) {
            at += tile_keys;
        } else {
            at = static_cast<u64>(shared.tile) * tile_keys;
        }
        if constexpr (HR_VALUES == 0) load_keys(key, in, take(at));
        if (d < digits) {
            if constexpr (HR_PLACES == by_chunks) {
                to = shared.base[d];
                shared.base[d] = to + found;
            } else if constexpr (HR_PLACES == by_look_back) {
                to = shared.base[d] + look_back.before(number, d, found);
            }
            shared.to[d] = to - start;
        }
        __syncthreads();
        u8 digit_of[items];
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            const u32 at = j * threads + threadIdx.x;
            if (tile.count == tile_keys || at < tile.count) {
                const Key mine = room[at];
                const u32 own = digit.of(mine);
                if constexpr (HR_VALUES != 0) digit_of[j] = static_cast<u8>(own);
                out[shared.to[own] + at] = mine;
            }
        }
        if constexpr (HR_VALUES != 0) {
            move_columns(columns, place, digit_of, tile, shared, room, tile_keys * sizeof(Key));
            load_keys(key, in, take(at));
        }
        __syncthreads();
    }
    if (HR_PLACES != by_chunks && d == 0) look_back.end();
}
