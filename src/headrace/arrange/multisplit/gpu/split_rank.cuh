// Ranks the keys of a warp: computes the position of each key in its tile, after earlier keys of the same digit.
//
// Ballots of the digit's bits find the lanes with the same digit (dissertation of Ashkiani 2017, section 3.5.4,
// algorithms 3 and 4). So ranking is stable and its cost does not depend on the keys. For up to 32 digits, each lane
// has the counter and the lane mask of one digit; other lanes fetch both by shuffles, without shared memory. For more
// digits, counters are in shared memory, and masks of the lowest five bits are still computed once for all lanes.
#pragma once
#include "arrange/multisplit/gpu/split_rule.cuh"
#include "gpu/block/warp.cuh"

namespace headrace {

// Returns the lanes whose digit has a bit: one test and one vote, where the compiler emits three instructions.
template <u32 bit>
HR_FN u32 lanes_with_bit(u32 digit) {
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

// Returns the lanes whose digit agrees with this lane's digit in a bit.
template <u32 bit>
HR_FN u32 lanes_alike(u32 digit) {
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

// Masks of a lane for ballots: for each of five bits 0 if the lane's number has the bit, else all ones.
struct OwnBits {
    u32 without[5];
    HR_MEMBER OwnBits() {
#pragma unroll
        for (u32 bit = 0; bit < 5; ++bit) without[bit] = (tile::lane() >> bit & 1) != 0 ? 0 : tile::all_lanes;
    }
};

// Returns the lanes whose digit has this lane's number as its lowest bits.
template <u32 low>
HR_FN u32 lanes_of_own(u32 digit, const OwnBits& own) {
    u32 same = tile::all_lanes;
    if constexpr (low > 0) same &= lanes_with_bit<0>(digit) ^ own.without[0];
    if constexpr (low > 1) same &= lanes_with_bit<1>(digit) ^ own.without[1];
    if constexpr (low > 2) same &= lanes_with_bit<2>(digit) ^ own.without[2];
    if constexpr (low > 3) same &= lanes_with_bit<3>(digit) ^ own.without[3];
    if constexpr (low > 4) same &= lanes_with_bit<4>(digit) ^ own.without[4];
    return same;
}

// Returns the lanes with this lane's digit; masks of five of its bits are computed once for all lanes.
HR_FN u32 lanes_of_digit(u32 digit, const OwnBits& own) {
    u32 same = tile::shuffle(lanes_of_own<5>(digit, own), digit);
    if constexpr (bits > 5) same &= lanes_alike<5>(digit);
    if constexpr (bits > 6) same &= lanes_alike<6>(digit);
    if constexpr (bits > 7) same &= lanes_alike<7>(digit);
    if constexpr (bits > 8) same &= lanes_alike<8>(digit);
    return same;
}

HR_FN u32 highest_lane(u32 some) {
#if defined(__CUDACC__)
    u32 place;
    asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(some));
    return place;
#else
    return static_cast<u32>(31 - __clz(static_cast<int>(some)));
#endif
}

// Ways to advance the counters of more than 32 digits, by the highest lane of each digit. `by_stores`: all lanes load,
// one stores. `by_additions`: one lane adds, and passes the old value to the others by a shuffle, which saves two
// wavefronts of shared memory. The other lanes add to a spare word, since an addition of some lanes is a branch.
constexpr u32 by_stores = 0, by_additions = 1;

// Calls put(j, position) for item j of each lane, j < items. `digit_of(j)` is called once per item. `next`: the warp's
// counters, the position of the next key of each digit. `spare`: one word per lane with any content.
template <u32 items, u32 how = by_stores, class DigitOf, class Put>
HR_FN void rank_items(u32* next, const DigitOf& digit_of, const Put& put, [[maybe_unused]] u32* spare = nullptr) {
    const OwnBits own;
    const u32 before = (1u << tile::lane()) - 1;
    if constexpr (bits <= 5) {
        u32 at = next[tile::lane() % digits];  // counter of the digit with the lane's number
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
