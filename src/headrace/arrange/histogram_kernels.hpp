// Counting one piece of keys: the kernels' interface.
#pragma once

#include "core/portable.hpp"

namespace headrace {

enum class KeyType : u8 { u32, i32, f32 };

// What a key's bucket is found by; pointers are to the keys' type.
struct BucketSearch {
    const void* even;  // Even<Key>: the buckets, or with edges the cells
    u32 buckets;
    const void* edges;  // null, or `buckets` + 1 of them
    u32* words;         // one for each cell
    u32 cells;
};

// `copies` x `stride` counters, copy after copy. Keys that follow each other are counted in different copies, so that
// an addition need not wait for the one before it. Counter `buckets` of each copy takes the keys that are in none.
struct Counters {
    u32* at;
    u32 copies;  // 1, 4 or 8
    u32 stride;
};

struct HistogramKernels {
    // Fills in the cells' words.
    void (*describe_cells)(const BucketSearch& search);

    // Adds n keys' buckets to the counters.
    void (*count)(const void* keys, u64 n, const BucketSearch& search, const Counters& counters);
};

}  // namespace headrace
