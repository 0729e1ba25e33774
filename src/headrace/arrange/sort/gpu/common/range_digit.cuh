// Extracts the digits of passes that do not go by the bits of codes. They are digits of estimated ranks (rank_map.hpp).
// In later passes they are equal shares of a bucket's range (key_range.hpp).
#pragma once
#include "arrange/sort/gpu/common/digit.cuh"
#include "arrange/sort/gpu/common/key_range.hpp"
#include "arrange/sort/gpu/common/rank_map.hpp"
#include "arrange/sort/gpu/common/sort_task.hpp"

namespace headrace {

// Keys of 8 bytes are divided by splitters (SPLITTER_KEY_BYTES in lsd/tuning.py), those of 4 bytes by estimated ranks.
constexpr bool can_have_splitters = !with_equals && sizeof(Key) == 8;
constexpr bool can_have_ranks = !with_equals && sizeof(Key) == 4;

// Whether passes of an MSD sort divide ranges, after one by splitters or two by ranks.
HR_FN bool has_ranges(const DevicePlan& plan) {
    return (can_have_splitters && plan.division == Division::splitters) ||
           (can_have_ranks && plan.division == Division::ranks);
}

constexpr u32 prefix_bits = 2 * bits;
constexpr u32 rank_cell_bits = prefix_bits - 4;  // a cell of floats is an eighth of a power of two

// A rank map without cells, in registers.
struct EvenRanks {
    u32 low, most, zeros, scale;

    EvenRanks() = default;
    HR_MEMBER explicit EvenRanks(const RankMap* map)
        : low(map->low), most(map->most), zeros(map->zeros), scale(map->scale) {}

    HR_MEMBER u32 distance_of(u32 code) const {
        const u32 past = (code > low ? code : low) - low;
        return (past < most ? past : most) << zeros;
    }
    // Returns the estimated rank, in units of 2^-32 of all keys.
    HR_MEMBER u32 of(u32 code) const {
        const u32 distance = distance_of(code);
        return distance + __umulhi(distance, scale);
    }
};

// A rank map with cells. They are in global memory. Of most floats, few cells serve nearly all keys. These stay in the
// L1 cache, and tiles have the shared memory.
struct CellRanks {
    EvenRanks even;
    const u32* cell;

    CellRanks() = default;
    HR_MEMBER explicit CellRanks(const RankMap* map) : even(map), cell(map->cell()) {}

    HR_MEMBER static u32 cell_of(u32 distance) { return distance >> (32 - rank_cell_bits); }
    HR_MEMBER u32 of(u32 code) const {
        const u32 distance = even.distance_of(code), own = cell[cell_of(distance)];
        const u32 number = (own >> 16) << (32 - prefix_bits);
        return (own << (32 - prefix_bits)) + __umulhi(distance << rank_cell_bits, number);
    }
};

// The digit of a key's rank in the first pass or the second one.
template <class Ranks>
struct RankDigit {
    Ranks ranks;
    u32 shift;

    RankDigit() = default;
    HR_MEMBER RankDigit(const RankMap* map, u32 number) : ranks(map), shift(32 - bits * (number + 1)) {}
    HR_MEMBER u32 operator()(Key code) const { return ranks.of(static_cast<u32>(code)) >> shift & (digits - 1); }
};

struct RangeDigit {
    Key low;
    u32 zeros, scale;

    RangeDigit() = default;
    HR_MEMBER explicit RangeDigit(const KeyRange& range)
        : low(static_cast<Key>(range.low)), zeros(range.zeros - (64 - key_bits)), scale(range.scale) {}

    HR_MEMBER u32 operator()(Key code) const {
        const Key shifted = static_cast<Key>(static_cast<Key>(code - low) << zeros);
        return __umulhi(static_cast<u32>(shifted >> (key_bits - 32)), scale);
    }
};

}  // namespace headrace
