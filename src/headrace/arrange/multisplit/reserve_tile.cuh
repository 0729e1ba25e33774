// A tile of keys alone to the runs of their digits, in no order within a run, as a sort from the highest digit down and
// an unordered partition want it. One addition in shared memory a key counts its digit and tells its rank there; an
// addition a digit and tile in device memory takes room for them all; keys go side by side in shared memory, and out in
// runs. (Stehle and Jacobsen 2017, "A memory bandwidth-efficient hybrid radix sort on GPUs", sections 4.3 and 4.4.)
//
// What bounds it is instructions and accesses of shared memory, not bytes, so places in the tile are counted in bytes,
// a whole tile has code without tests, and lanes of equal digits add at once only in a warp that has many of them.
//
// A tile takes four barriers, each of which also ends what the one before it let begin:
//   rank_keys | take_starts: a scan | put_keys | write_keys, rank_keys of the next tile | ..
//
// Bytes moved per key of width w: 2 w.
#pragma once
#include "core/primitives/operators.hpp"
#include "core/tile/block.cuh"

namespace headrace {

constexpr u32 threads = HR_THREADS;
constexpr u32 items = HR_ITEMS;
constexpr u32 warps = threads / tile::lanes;
constexpr u32 tile_keys = threads * items;
constexpr u32 key_bytes = sizeof(Key);
static_assert(threads >= digits);

// Of 32 lanes with digits drawn alike from 256, six are the same in one of 40,000 warps.
constexpr u32 few_alike = 5;
constexpr u32 no_digit = ~0u;

// `DigitOf` gives a key's digit; from shared memory, so that digits are made anew where they are needed again: the
// compiler would keep them in registers, which it has not.
template <class To, class DigitOf>
struct Runs {
    To to[digits];          // where place 0 of the tile would go, were it of this digit
    u32 taken[digits + 1];  // bytes that the tile's keys of a digit take; zero when a tile begins
    u32 start[digits + 1];  // where they begin in the tile, in bytes
    u32 totals[warps];
    DigitOf digit_of;
};

// Item j of a lane, from the tile's first.
static __device__ __forceinline__ u32 item_place(u32 j) {
    return (tile::warp() * items + j) * tile::lanes + tile::lane();
}

// The first `count` keys of a tile.
template <bool whole>
static __device__ __forceinline__ void load_keys(Key (&key)[items], const Key* in, u32 count) {
    const Key* const mine = in + item_place(0);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (whole || item_place(j) < count) key[j] = mine[j * tile::lanes];
    }
}

// The digit of item j; one behind all digits where it is not there, so that it goes behind all keys.
template <bool whole, class DigitOf>
static __device__ __forceinline__ u32 digit_at(const Key (&key)[items], u32 j, u32 count, const DigitOf& digit_of) {
    const u32 digit = digit_of(key[j]);
    return whole || item_place(j) < count ? digit : digits;
}

// The digit that most lanes of the warp have in their first keys, if more than a few do; else `no_digit`.
static __device__ __forceinline__ u32 common_digit(u32 digit) {
    const u32 alike = static_cast<u32>(__popc(__match_any_sync(tile::all_lanes, digit)));
    const u32 most = __reduce_max_sync(tile::all_lanes, alike << 16 | digit);
    return most >> 16 > few_alike ? most & 0xFFFF : no_digit;
}

// Each key's rank in its digit, in bytes. Where many lanes have one digit, the first of them adds for all. A barrier
// must follow.
template <bool whole, class DigitOf>
static __device__ __forceinline__ void rank_keys(const Key (&key)[items], u32 count, const DigitOf& digit_of,
                                                 u32* taken, u32 (&place)[items]) {
    const u32 common = common_digit(digit_at<whole>(key, 0, count, digit_of));
    if (common == no_digit) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            place[j] = atomicAdd(&taken[digit_at<whole>(key, j, count, digit_of)], key_bytes);
        }
        return;
    }
    const u32 before = (1u << tile::lane()) - 1;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 digit = digit_at<whole>(key, j, count, digit_of);
        const u32 alike = __ballot_sync(tile::all_lanes, digit == common);
        const u32 lower = static_cast<u32>(__popc(alike & before));
        const u32 adds = digit == common ? static_cast<u32>(__popc(alike)) : 1;
        u32 at = 0;
        if (digit != common || lower == 0) at = atomicAdd(&taken[digit], adds * key_bytes);
        const u32 first = tile::shuffle(at, (static_cast<u32>(__ffs(static_cast<int>(alike))) - 1) % tile::lanes);
        place[j] = digit == common ? first + lower * key_bytes : at;
    }
}

struct Found {
    u32 start;  // of the thread's digit in the tile
    u32 count;
};

// For each thread below `digits`, its digit; counters are zero again. A barrier must follow.
template <class To, class DigitOf>
static __device__ __forceinline__ Found take_starts(Runs<To, DigitOf>& runs) {
    const u32 d = threadIdx.x;
    u32 taken = 0;
    if (d < digits) {
        taken = runs.taken[d];
        runs.taken[d] = 0;
    }
    if (d == 0) runs.taken[digits] = 0;
    const u32 upto = tile::scan_warp<Sum<u32>>(taken);
    const u32 warp_total = tile::shuffle(upto, tile::lanes - 1);
    const u32 start = tile::scan_warps<Sum<u32>, threads>(warp_total, runs.totals).before + upto - taken;
    if (d < digits) runs.start[d] = start;
    if (d == digits - 1) runs.start[digits] = start + taken;
    return {start / key_bytes, taken / key_bytes};
}

// Keys to their places in `room`. A barrier must follow.
template <bool whole, class To, class DigitOf>
static __device__ __forceinline__ void put_keys(const Key (&key)[items], u32 count, const Runs<To, DigitOf>& runs,
                                                const u32 (&place)[items], Key* room) {
    const DigitOf digit_of = runs.digit_of;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = place[j] + runs.start[digit_at<whole>(key, j, count, digit_of)];
        *reinterpret_cast<Key*>(reinterpret_cast<u8*>(room) + at) = key[j];
    }
}

// And from there to where they belong, as what `given` makes of them. What was in `room` is still read until the next
// barrier.
template <bool whole, class To, class DigitOf, class Given>
static __device__ __forceinline__ void write_keys(const Key* room, u32 count, const DigitOf& digit_of, const To* to,
                                                  Key* out, const Given& given) {
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        const u32 at = j * threads + threadIdx.x;
        if (!whole && at >= count) continue;
        const Key key = room[at];
        out[static_cast<To>(to[digit_of(key)] + at)] = given(key);
    }
}

}  // namespace headrace
