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
    HR_FN bool contains(const Even& even, Key key) { return static_cast<u32>(key) - even.low <= even.last; }

    // `short_product`: only the high word of the multiplier counts (has_short_product). Without branches: a GPU spends
    // more on one for each key than on what it skips.
    template <bool short_product = false>
    HR_FN u32 part(const Even& even, Key key, u32) {
        const u32 past = static_cast<u32>(key) - even.low;
        u64 product = static_cast<u64>(past) * (even.multiplier >> 32);
        if constexpr (!short_product) product += static_cast<u64>(past) * (even.multiplier & 0xFFFFFFFF) >> 32;
        const u32 own = even.multiplier == 0 ? ~0u : 0;
        return past > even.last ? no_bucket : static_cast<u32>(product >> 32) | (past & own);
    }

    // As `part`, but about equal is enough, and a key outside of all is in any.
    HR_FN u32 cell(const Even& even, Key key, u32 count) {
        const u32 past = static_cast<u32>(key) - even.low;
        const u32 high = even.multiplier == 0 ? ~0u : static_cast<u32>(even.multiplier >> 32);
        const u32 cell = static_cast<u32>(static_cast<u64>(past) * high >> 32);
        return cell < count ? cell : count - 1;
    }
};

template <>
struct Even<float> {
    float low;
    float high;
    float parts_per_unit;
    u32 unused;

    HR_FN bool contains(const Even& even, float key) { return key >= even.low && key < even.high; }

    template <bool short_product = false>
    HR_FN u32 part(const Even& even, float key, u32 count) {
        return contains(even, key) ? cell(even, key, count) : no_bucket;
    }

    // A key outside of all, and NaN, is in any.
    HR_FN u32 cell(const Even& even, float key, u32 count) {
        const float parts = (key - even.low) * even.parts_per_unit;
#if defined(__CUDACC__)
        const u32 cell = __float2uint_rz(parts);  // the nearest there is; NaN is 0
#else
        const u32 cell = parts >= 0.0f ? parts < 65536.0f ? static_cast<u32>(parts) : count : 0;
#endif
        return cell < count ? cell : count - 1;
    }
};

// Is `part` without the low word of the multiplier the same, as where range and parts are powers of two?
template <class Key>
HR_FN bool has_short_product(const Even<Key>& even) {
    return (even.multiplier & 0xFFFFFFFF) == 0;
}
HR_FN bool has_short_product(const Even<float>&) { return false; }

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
