// Counting one piece of keys: the kernels' interface.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

enum class KeyType : u8 { u8, u16, u32, u64, f32, f64 };

// What a key's bucket is found by.
struct BucketSearch {
    const void* description;  // Even<Key>, or with edges Cells<Key>
    u32 buckets;
    const void* edges;  // null, or `buckets` + 1 widened keys
    const u32* words;   // one for each cell, and one behind them
};

// `copies` x `stride` counters, copy after copy. Keys that follow each other are counted in different copies, so that
// an addition need not wait for the one before it. Counter `buckets` of each copy takes the keys that are in none.
struct Counters {
    u32* at;
    u32 copies;  // 1, 4 or 8
    u32 stride;
};

// Adds n keys' buckets to the counters.
using CountKeys = void (*)(const void* keys, u64 n, const BucketSearch& search, const Counters& counters);

}  // namespace headrace
