// Which bucket a key is in, for CPU and GPU alike. Keys outside of all buckets are in none.
//
// Even: m buckets of the same width over [low, high). Whole numbers of 32 bits are exact, floor((key - low) m / r) for
// r = high - low: with M = ceil(2^64 m / r) the high word of (key - low) M errs by less than (key - low) / 2^64 < 1 /
// r, which is less than what the fraction lacks of 1. Floating point is one subtraction and one multiplication,
// rounded.
//
// Range: m buckets between m + 1 ascending edges, [edge 0, edge 1) the first. Buckets of the even kind, called cells,
// guide the search: a cell knows how many edges lie before it and how many in it, most often none or one. (Dissertation
// of Ashkiani 2017, chapter 3, searches all edges; cells are what interpolation search becomes with a table.)
#pragma once
#include "core/portable.hpp"

HR_BEGIN_NAMESPACE

constexpr u32 no_bucket = ~0u;

// How keys fall into `count` even parts. Of whole numbers: `last` is high - low - 1, `multiplier` M, or 0 where every
// number is a part of its own (and parts may be left over). Of floating point: `low`, `high` and parts per unit.
template <class Key>
struct Even {
    u64 multiplier;
    u32 low;
    u32 last;

    // Signed keys too: differences modulo 2^32 are the same.
    HR_FN u32 part(const Even& even, Key key, u32) {
        const u32 past = static_cast<u32>(key) - even.low;
        const u64 upper = static_cast<u64>(past) * (even.multiplier >> 32);
        const u64 lower = static_cast<u64>(past) * (even.multiplier & 0xFFFFFFFF);
        const u32 part = static_cast<u32>((upper + (lower >> 32)) >> 32);
        const u32 own = even.multiplier == 0 ? ~0u : 0;
        return past > even.last ? no_bucket : part | (past & own);
    }

    // As `part` for parts that need not be equal, only in order: one product of 32-bit words.
    HR_FN u32 cell(const Even& even, Key key, u32) {
        const u32 past = static_cast<u32>(key) - even.low;
        const u32 cell = static_cast<u32>(past * static_cast<u64>(static_cast<u32>(even.multiplier >> 32)) >> 32);
        const u32 own = even.multiplier == 0 ? ~0u : 0;
        return past > even.last ? no_bucket : cell | (past & own);
    }
};

template <>
struct Even<float> {
    float low;
    float high;
    float parts_per_unit;
    u32 unused;

    HR_FN u32 part(const Even& even, float key, u32 count) {
        const bool inside = key >= even.low && key < even.high;
        const u32 part = static_cast<u32>((inside ? key - even.low : 0.0f) * even.parts_per_unit);
        return inside ? (part < count ? part : count - 1) : no_bucket;
    }

    HR_FN u32 cell(const Even& even, float key, u32 count) { return part(even, key, count); }
};

// Is `cell` the same as `part`?
template <class Key>
HR_FN bool has_short_product(const Even<Key>& even) {
    return (even.multiplier & 0xFFFFFFFF) == 0;
}
HR_FN bool has_short_product(const Even<float>&) { return false; }

// 4096 cells: 16 KB beside the counters, and more than a dozen of them for each of 256 edges.
constexpr u32 cells = 4096;

// Edges before a cell in the low half, the first edge of all not counted, edges in it in the high half.
HR_FN u32 cell_word(u32 before, u32 inside) { return before | inside << 16; }

// The bucket of a key, that is the edges but the first that are not above it. `cell` is the word of its cell, `edges`
// begins at edge 1.
template <class Key, class Edges>
HR_FN u32 bucket_in_cell(u32 cell, Key key, Edges edges) {
    u32 bucket = cell & 0xFFFF;
    for (u32 left = cell >> 16; left != 0;) {
        const u32 half = (left + 1) / 2;
        if (edges[bucket + half - 1] <= key) {
            bucket += half;
            left -= half;
        } else {
            left = half - 1;
        }
    }
    return bucket;
}

// Edges 1 to m - 1 that lie in cells before `cell`: `edges` begins at edge 1, `count` is m - 1.
template <class Key>
HR_FN u32 edges_before_cell(const Even<Key>& even, u32 cell, u32 cells, const Key* edges, u32 count) {
    u32 low = 0;
    while (count != 0) {
        const u32 half = count / 2;
        if (Even<Key>::cell(even, edges[low + half], cells) < cell) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

HR_END_NAMESPACE
