// Declares the search for many keys of a hash map by vectors (search_kernels.cpp).
#pragma once

#include "core/cpu/isa.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

struct KeySearch {
    const u64* tables;  // of each shard: FlatTable::search_word()
    const void* keys;
    u64 count;  // fewer than 2^32
    u64 seed;
    void* values;     // null for none
    u8* found;        // whether a key was found
    u32* unfinished;  // memory for `count` numbers of keys and 16 more
    bool is_cached;   // whether the tables are in the cache of a core
};

// Searches the first group of each key, and writes results. Returns the number of keys for which that does not decide.
// It writes their numbers to `unfinished`, and any results.
using SearchKeys = u64(const KeySearch& search);

}  // namespace headrace
