// Declares the search for many keys of a hash map by vectors (search_kernels.cpp).
#pragma once

#include "core/cpu/isa.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

// The result of each search: whether the key was found and its value, or an address in a table.
enum class SearchResult : u32 { value, slot, tag };

constexpr u32 chunk_keys = 16;

// Searches that have begun: arrays of four chunks, and the next turn.
struct SearchPipeline {
    using Words = u64[4][chunk_keys];
    alignas(64) Words hashes, groups, slots;  // addresses; slots: the first ones of groups before tags are compared
    alignas(64) Words equal_bits;
    u8 is_last[4][chunk_keys / 8];  // bits of keys that have no second candidate in their group or later
    u64 turn = 0;
};

struct KeySearch {
    const u64* tables;  // of each shard: FlatTable::search_word()
    const void* keys;
    u64 count;  // fewer than 2^32
    u64 seed;
    bool is_cached;     // whether the tables are in the cache of a core
    bool lists_absent;  // whether absent keys are unfinished
    // The keys whose results a call writes, as items from 0 on: those after the keys of the call before. `begin` is a
    // multiple of 16, and so is `end` unless it is `count`.
    u64 begin, end;
    u32* unfinished;  // memory for as many numbers of results and 16 more
    u8* found;        // whether a key was found; null for none
    void* values;     // null for none
    u64* addresses;   // for the other results: of the key's slot or tag, or `nowhere`
    u64 nowhere;
};

// Searches the first group of each key, and writes results. Returns the number of keys for which that does not decide.
// It writes their numbers to `unfinished`, and results as for absent keys. If a table moves between two calls, the next
// one begins with a new pipeline.
using SearchKeys = u64(const KeySearch& search, SearchPipeline& pipeline);

// What a kernel searches: bytes of keys and values, 0 for no values, and the result.
struct SearchKind {
    u32 key_width;
    u32 value_width;
    SearchResult result;
};

}  // namespace headrace
