// Sorts keys in host memory: keys alone, indices of keys, the first keys.
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

// Returns the bytes of spare memory that a sort needs, aligned to a cache line: none, or as many as the keys have.
u64 spare_for(unsigned width, u64 count, const SortWith& how);

// Sorts keys alone to `to`, which may be their own memory. Bytes moved by several threads per key of width w, if keys
// exceed the caches: 2 w to inspect, 3 w for a pass, and 3 w to sort its buckets.
void sort_keys(const SortedKeys& by, void* to, void* spare, const SortWith& how);

// Sorts indices: `order` gets `count` words whose lowest `index_bits` (returned) are indices of keys, ascending for
// equal keys. `spare`: as for `count` keys of 8 bytes.
unsigned sort_order(const SortedKeys& by, u64* order, u64* spare, const SortWith& how);

bool is_in_order(const SortedKeys& by, const SortWith& how);

// Finds which k <= count keys come first, in the order of their indices; of equal keys at the end, the earliest.
void find_first(const SortedKeys& by, u64 k, u64* found, const SortWith& how);

struct MovedItems {
    const void* from;
    void* to;
    unsigned width;  // 1, 2, 4, 8 or 16
};

// Gathers to[i] = from[order[i]] by the lowest `index_bits` of an order. If `from` is null, writes order[i] itself,
// cut to `width`.
void take_in_order(const u64* order, unsigned index_bits, u64 count, const MovedItems& items, unsigned threads);

}  // namespace headrace
