// Declares the CPU kernels that count one piece of keys.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

enum class KeyType : u8 { u8, u16, u32, u64, f32, f64 };

// The rule that gives a key's bucket.
struct BucketSearch {
    const void* description;  // Even<Key>, or with edges Cells<Key>
    u32 buckets;
    const void* edges;  // null, or `buckets` + 1 widened keys
    const u32* words;   // one for each cell, and one after them
};

// `copies` x `stride` counters, copy by copy. Adjacent keys are counted in different copies, so that an addition does
// not wait for the preceding one. Counter `buckets` of each copy counts the keys in no bucket.
struct BucketCounters {
    u32* at;
    u32 copies;  // 1, 4 or 8
    u32 stride;
};

// Counts n keys.
using CountKeys = void (*)(const void* keys, u64 n, const BucketSearch& search, const BucketCounters& counters);

}  // namespace headrace
