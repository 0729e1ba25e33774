// A tile of a stable step: counted, ranked and written as a multisplit's is (arrange/multisplit/gpu/split.cu), with
// look-back, by the digit of whoever includes this.
#pragma once
#include "arrange/sort/gpu/common/arrays.cuh"
#include "arrange/sort/gpu/common/device_plan.cuh"
#include "arrange/sort/gpu/common/digit.cuh"

namespace headrace {

// Keys that a launch sorts: a part of all, since counts of look-back are below 2^31.
struct Portion {
    u64 begin;
    u64 count;
    u64* starts;       // where each digit's keys of this portion go, for each digit of a key
    u64* next_starts;  // of the next portion; null: there is none
    void* memory;      // tile::Counters and a state for each tile and value of a digit, in which `epoch` was never
    u32 epoch;
    u32 writes_keys;  // also in the last step
};

struct Pass {
    const Work& work;
    const Portion& portion;
    LookBack& look_back;
    u64* next_starts;  // of the step's digit; null: nobody wants them
    const DevicePlan* plan;
    u32 number;  // of its step
    const KeyRule<Key>& rule;
    bool is_first, is_last;  // whether keys become codes, and codes keys
};

static __device__ __forceinline__ Tile tile_of(u32 number, u64 count) {
    const u64 at = static_cast<u64>(number) * tile_keys;
    const u64 left = at < count ? count - at : 0;
    return {at, left < tile_keys ? static_cast<u32>(left) : tile_keys};
}

template <bool whole>
static __device__ __forceinline__ void load(Loaded& loaded, const Pass& pass, const Tile& tile) {
    load_moved<whole>(loaded, pass.work, tile, pass.portion.begin + tile.begin);
}

// Whether a thread finds where the next portion's keys start when it tells that, for the last tile. With keys of 8
// bytes the address would lie in local memory, and be read for each tile: 2 to 3 % of a pass. With those of 4 bytes,
// which have registers left, the compiler makes less of the rest without it: 2 to 6 %. (docs/decisions/0023)
constexpr bool finds_starts_late = sizeof(Key) == 8;

// Where a digit's starts begin: in as many bits as the measured programs of each width have.
static __device__ __forceinline__ auto starts_of(u32 digit) {
    if constexpr (finds_starts_late) {
        return digit * digits;
    } else {
        return static_cast<u64>(digit) * digits;
    }
}

// Where the tile's keys of each digit go.
static __device__ __forceinline__ void find_places(const Pass& pass, u32 number, const Tile& tile, const Found& found) {
    const u32 d = threadIdx.x;
    if (d >= digits) return;
    Shared& shared = pass.work.shared;
    const u64 at = shared.base[d] + pass.look_back.before(number, d, found.count);
    shared.to[d] = target(at, found.start);
    const bool is_end = tile.begin + tile.count == pass.work.count;
    if constexpr (finds_starts_late) {
        if (pass.portion.next_starts == nullptr || !is_end) return;
        const u32 own = starts_of(pass.plan->step[pass.number].digit) + d;
        pass.portion.next_starts[own] = at + found.count;
    } else {
        if (pass.next_starts != nullptr && is_end) pass.next_starts[d] = at + found.count;
    }
}

// One tile, which is loaded; `number` becomes the next one's, which is loaded while this one goes out, unless values
// follow their keys.
template <bool whole>
static __device__ __forceinline__ void sort_tile(Loaded& loaded, const Pass& pass, u32& number) {
    const Work& work = pass.work;
    const u32 own = number;
    const Tile tile = tile_of(own, work.count);
    Key(&key)[items] = loaded.key;
    const u32 ticket = threadIdx.x == 0 ? pass.look_back.take_tile() : 0;
    make_codes(key, pass.rule, pass.is_first);
    const Found found = count_digits<whole>(key, work, tile);
    if (threadIdx.x < digits) pass.look_back.post(own, threadIdx.x, found.count);
    if (threadIdx.x == 0) work.shared.tile = ticket;
    __syncthreads();
    u32 place[items / 2] = {};
    put_items<whole>(loaded, work, tile, place);
    number = work.shared.tile;
    const Tile next = tile_of(number, work.count);
    if (whole && loads_ahead && next.count == tile_keys) load<true>(loaded, pass, next);
    Following following;
    if constexpr (follows_early) following.load<whole>(work, tile, pass.portion.begin + tile.begin);
    find_places(pass, own, tile, found);
    __syncthreads();
    write_moved<whole>(work, tile, pass.rule, pass.is_last);
    if constexpr (follows_early) {
        following.write_out<whole>(work, tile, place);
    } else if constexpr (with_values && !together) {
        move_all<whole>(work, tile, place, pass.portion.begin);
    }
}

template <bool whole>
static __device__ __forceinline__ void load_and_sort(const Pass& pass, u32& number) {
    Loaded loaded = {};
    load<whole>(loaded, pass, tile_of(number, pass.work.count));
    sort_tile<whole>(loaded, pass, number);
}

static __device__ __forceinline__ void sort_tiles(const Pass& pass, u32 number) {
    const u64 count = pass.work.count;
    if constexpr (loads_ahead) {
        Loaded loaded = {};
        if (tile_of(number, count).count == tile_keys) load<true>(loaded, pass, tile_of(number, count));
        while (tile_of(number, count).count == tile_keys) sort_tile<true>(loaded, pass, number);
    } else {
        while (tile_of(number, count).count == tile_keys) load_and_sort<true>(pass, number);
    }
    if (tile_of(number, count).count != 0) load_and_sort<false>(pass, number);
}

}  // namespace headrace
