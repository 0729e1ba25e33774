// Where each key of a warp goes in its tile, behind the keys of its digit that came before: ballots of the digit's bits
// tell which lanes have the same one (dissertation of Ashkiani 2017, section 3.5.4, algorithms 3 and 4), so it is
// stable and costs the same whatever the keys are. Up to 32 digits a lane holds what one of them has come to, and makes
// its mask for all lanes: both are fetched by shuffles, and shared memory is not touched. Above, they are in shared
// memory, and the lowest five bits are still shared work.
#pragma once
#include "arrange/multisplit/gpu/split_rule.cuh"
#include "gpu/block/warp.cuh"

namespace headrace {

// The lanes whose digit has a bit; one test and one vote, which the compiler would make three of.
template <u32 bit>
static __device__ __forceinline__ u32 lanes_with_bit(u32 digit) {
#if defined(__CUDACC__)
    u32 votes;
    asm volatile(
        "{ .reg .pred set; .reg .b32 part; and.b32 part, %1, %2; setp.ne.u32 set, part, 0;\n"
        "vote.sync.ballot.b32 %0, set, 0xFFFFFFFF; }"
        : "=r"(votes)
        : "r"(digit), "n"(1u << bit));
    return votes;
#else
    return __ballot_sync(tile::all_lanes, (digit & 1u << bit) != 0);
#endif
}

// The lanes whose digit has the bit as this lane's has it.
template <u32 bit>
static __device__ __forceinline__ u32 lanes_alike(u32 digit) {
#if defined(__CUDACC__)
    u32 votes;
    asm volatile(
        "{ .reg .pred set; .reg .b32 part; and.b32 part, %1, %2; setp.ne.u32 set, part, 0;\n"
        "vote.sync.ballot.b32 %0, set, 0xFFFFFFFF; @!set not.b32 %0, %0; }"
        : "=r"(votes)
        : "r"(digit), "n"(1u << bit));
    return votes;
#else
    const bool is_set = (digit & 1u << bit) != 0;
    const u32 votes = __ballot_sync(tile::all_lanes, is_set);
    return is_set ? votes : ~votes;
#endif
}

// What a lane keeps for ballots: for each of five bits 0 where the lane's own number has it, else all ones.
struct OwnBits {
    u32 without[5];
    __device__ __forceinline__ OwnBits() {
#pragma unroll
        for (u32 bit = 0; bit < 5; ++bit) without[bit] = (tile::lane() >> bit & 1) != 0 ? 0 : tile::all_lanes;
    }
};

// The lanes whose digit has this lane's number as its lowest bits.
template <u32 low>
static __device__ __forceinline__ u32 lanes_of_own(u32 digit, const OwnBits& own) {
    u32 same = tile::all_lanes;
    if constexpr (low > 0) same &= lanes_with_bit<0>(digit) ^ own.without[0];
    if constexpr (low > 1) same &= lanes_with_bit<1>(digit) ^ own.without[1];
    if constexpr (low > 2) same &= lanes_with_bit<2>(digit) ^ own.without[2];
    if constexpr (low > 3) same &= lanes_with_bit<3>(digit) ^ own.without[3];
    if constexpr (low > 4) same &= lanes_with_bit<4>(digit) ^ own.without[4];
    return same;
}

// Which lanes have this lane's digit, five of its bits by shared work.
static __device__ __forceinline__ u32 lanes_of_digit(u32 digit, const OwnBits& own) {
    u32 same = tile::shuffle(lanes_of_own<5>(digit, own), digit);
    if constexpr (bits > 5) same &= lanes_alike<5>(digit);
    if constexpr (bits > 6) same &= lanes_alike<6>(digit);
    if constexpr (bits > 7) same &= lanes_alike<7>(digit);
    return same;
}

static __device__ __forceinline__ u32 highest_lane(u32 some) {
#if defined(__CUDACC__)
    u32 place;
    asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(some));
    return place;
#else
    return static_cast<u32>(31 - __clz(static_cast<int>(some)));
#endif
}

// How counters of more than 32 digits move, by the highest lane of each: by a load of all and a store; or by one
// addition whose result it hands to the others by a shuffle, two wavefronts of shared memory less. The others add to a
// spare word of their own, since an addition of some lanes is a branch.
constexpr u32 by_stores = 0, by_additions = 1;

// Calls put(j, place) for item j of each lane, j < items. `digit_of(j)` is called once for each. `next`: the warp's
// own counters, one a digit, where its first key of that digit goes, and then where its next one would. `spare`: a word
// for each lane, whatever is in them.
template <u32 items, u32 how = by_stores, class DigitOf, class Put>
static __device__ __forceinline__ void rank_items(u32* next, const DigitOf& digit_of, const Put& put,
                                                  [[maybe_unused]] u32* spare = nullptr) {
    const OwnBits own;
    const u32 before = (1u << tile::lane()) - 1;
    if constexpr (bits <= 5) {
        u32 at = next[tile::lane() % digits];  // of the digit with the lane's number
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            const u32 digit = digit_of(j);
            const u32 mine = lanes_of_own<bits>(digit, own);
            const u32 same = tile::shuffle(mine, digit);
            const u32 first = tile::shuffle(at, digit);
            at += static_cast<u32>(__popc(mine));
            put(j, first + static_cast<u32>(__popc(same & before)));
        }
        __syncwarp();
        if (tile::lane() < digits) next[tile::lane()] = at;
    } else {
        const u32 above = ~before << 1;
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            const u32 digit = digit_of(j);
            const u32 same = lanes_of_digit(digit, own);
            const u32 rank = static_cast<u32>(__popc(same & before));
            u32 first;
            if constexpr (how == by_additions) {
                u32* const counter = (same & above) == 0 ? next + digit : spare + tile::lane();
                first = tile::shuffle(atomicAdd(counter, rank + 1), highest_lane(same));
            } else {
                first = next[digit];
                __syncwarp();
                if ((same & above) == 0) next[digit] = first + rank + 1;
                __syncwarp();
            }
            put(j, first + rank);
        }
    }
}

}  // namespace headrace
