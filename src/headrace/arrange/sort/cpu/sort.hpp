// Keys in order, in host memory: keys alone, places of keys in order, the first few of them.
#pragma once

#include <vector>

#include "core/cpu/isa.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

struct SortedKeys {
    const void* keys;
    u64 count;
    unsigned width;    // bytes of a key: 1, 2, 4 or 8
    const void* rule;  // a KeyRule of that width
};

struct SortWith {
    Isa isa;
    unsigned threads;
};

// Bytes of spare memory that a sort needs, on a line's boundary: none, or as many as the keys have.
u64 spare_for(unsigned width, u64 count, const SortWith& how);

// Keys alone, to `to`, which may be where they are. By several threads, bytes moved per key of width w, of more than
// fit the caches: 2 w for the look, 3 w for a pass, and 3 w to put its parts in order.
void sort_keys(const SortedKeys& by, void* to, void* spare, const SortWith& how);

// Places of keys in order: `order` gets `count` words whose lowest `index_bits` (returned) are numbers of keys, those
// of equal keys rising. `spare`: as for so many keys of 8 bytes.
unsigned sort_order(const SortedKeys& by, u64* order, u64* spare, const SortWith& how);

bool is_in_order(const SortedKeys& by, const SortWith& how);

// Which k <= count keys come first, in the order of their places; of equal keys at the end those that come first.
void find_first(const SortedKeys& by, u64 k, u64* found, const SortWith& how);

struct MovedItems {
    const void* from;
    void* to;
    unsigned width;  // 1, 2, 4, 8 or 16
};

// to[i] = from[order[i]], by the lowest `index_bits` of an order; `from` null: order[i] itself, cut to `width`.
void take_in_order(const u64* order, unsigned index_bits, u64 count, const MovedItems& items, unsigned threads);

}  // namespace headrace
