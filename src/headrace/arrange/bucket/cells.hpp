// Computes buckets between m + 1 ascending edges: [edge 0, edge 1) is bucket 0; keys outside of all edges, and NaN, are
// in bucket m. For nearly every key this takes one table lookup and one addition.
//
// Each key has a place from 0 to 2^32 - 1 that ascends with the key. The range of places is divided into cells. A place
// consists of the number of its cell and a fraction of the cell. The table has a word for each cell. Its high bits are
// the number of edges in earlier cells. Its low `fraction` bits are 1 - f, where f is the fraction of the one edge in
// the cell. So the sum of the word and a key's fraction is the number of edges that are not above the key. Of 14,500
// cells few have two edges. A cell is `crowded` if it has more than one edge. It is also crowded if the fraction is too
// coarse to separate its edge from the preceding key. The word of a crowded cell only has the edges before it, and keys
// there are compared with edges. (Dissertation of Ashkiani 2017, section 3.7.3, searches all edges. Cells are an
// interpolation search by table.)
#pragma once
#include "arrange/bucket/bucket.hpp"

HR_BEGIN_NAMESPACE

constexpr u32 crowded = 1u << 31;

// `low`: edge 0. `scale`: for floats places per unit; for integers of 64 bits the shift.
template <class Key>
struct Cells {
    using Wide = typename Widened<Key>::Type;
    Wide low;
    Wide scale;
    u32 multiplier;  // cells per 2^32 places
    u32 count;
    u32 fraction;
    u32 buckets;
};

struct Spot {
    u32 cell;
    u32 within;
};

// Returns the place of a key. Keys below edge 0, and NaN, have the last place, or for integers one above the last edge.
template <class Key, class Wide = typename Widened<Key>::Type>
HR_FN u32 place(const Cells<Key>& cells, Wide key) {
    if constexpr (Widened<Key>::whole && sizeof(Key) <= 4) {
        return key;
    } else if constexpr (Widened<Key>::whole) {
        const u64 shifted = key >> cells.scale;
        return shifted >> 32 == 0 ? static_cast<u32>(shifted) : ~0u;
    } else {
        return key >= cells.low ? whole_part((key - cells.low) * cells.scale) : ~0u;
    }
}

template <class Key>
HR_FN Spot spot(const Cells<Key>& cells, u32 place) {
    const u64 product = static_cast<u64>(place) * cells.multiplier;
    return {at_most(static_cast<u32>(product >> 32), cells.count), static_cast<u32>(product) >> (32 - cells.fraction)};
}

// Returns how many of the edges 1 to m are in cells before `cell`; `edges` are widened keys.
template <class Key, class Wide>
HR_FN u32 edges_before(const Cells<Key>& cells, const Wide* edges, u32 cell) {
    u32 low = 0;
    for (u32 count = cells.buckets; count != 0;) {
        const u32 half = count / 2;
        if (spot(cells, place(cells, edges[low + half + 1])).cell < cell) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

// Returns the greatest key below `edge`, which is above edge 0.
HR_FN u32 key_before(u32 edge) { return edge - 1; }
HR_FN u64 key_before(u64 edge) { return edge - 1; }
template <class Float, class Bits>
HR_FN Float float_before(Float edge) {
    const Bits bits = bits_as<Bits>(edge);
    if (edge > 0) return bits_as<Float>(bits - 1);
    return edge < 0 ? bits_as<Float>(bits + 1) : bits_as<Float>((Bits(1) << (sizeof(Bits) * 8 - 1)) + 1);
}
HR_FN float key_before(float edge) { return float_before<float, u32>(edge); }
HR_FN double key_before(double edge) { return float_before<double, u64>(edge); }

// Returns the word of a cell with `inside` edges in it and `before` edges in earlier cells.
template <class Key, class Wide>
HR_FN u32 word_of_edges(const Cells<Key>& cells, const Wide* edges, u32 before, u32 inside) {
    if (inside == 0) return before << cells.fraction;
    const Wide edge = edges[before + 1];
    const Spot at = spot(cells, place(cells, edge));
    if (edge > edges[0]) {
        const Spot last = spot(cells, place(cells, key_before(edge)));
        if (last.cell == at.cell && last.within == at.within) return crowded | before;
    }
    return inside == 1 ? ((before + 1) << cells.fraction) - at.within : crowded | before;
}

// Returns the word of a cell from 0 to `count`; cell `count` has no edge.
template <class Key, class Wide>
HR_FN u32 word_of_cell(const Cells<Key>& cells, const Wide* edges, u32 cell) {
    const u32 before = edges_before(cells, edges, cell);
    return word_of_edges(cells, edges, before, edges_before(cells, edges, cell + 1) - before);
}

// Returns the bucket of a key in a crowded cell; `next`: word of the following cell.
template <class Wide>
HR_FN u32 bucket_in_crowd(u32 word, u32 next, u32 fraction, const Wide* edges, Wide key) {
    u32 low = word & ~crowded;
    u32 high = (next & crowded) != 0 ? next & ~crowded : next >> fraction;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (edges[middle + 1] <= key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

HR_END_NAMESPACE
