// Searches keys, marks runs and counts small integers in host memory.
#pragma once
#include <string_view>

#include "arrange/search/search.hpp"
#include "arrange/sort/cpu/sort.hpp"

namespace headrace {

// Writes the position of each key in sorted keys of the same width and rule. Bytes moved per key of width w: w + 8, and
// a cache line per halving that is not in a cache.
void search_keys(const SortedKeys& sorted, const SortedKeys& keys, const SearchOptions& options, i64* positions,
                 unsigned threads);

// Writes 1 for each sorted key that differs from the one before it, and 0 for others.
void mark_runs(const SortedKeys& keys, u8* marks, unsigned threads);

// Unsigned integers of 1, 2, 4 or 8 bytes, each below `limit`.
struct SmallIntegers {
    const void* items;
    u64 count;
    unsigned width;
    u64 limit;
};

// Counts the occurrences of each integer below `limit`, on one thread: counters that threads share take longer.
void count_integers(const SmallIntegers& integers, i64* counts);

// Sums the weights of each integer below `limit`, in the order of the items, on one thread.
void sum_weights(const SmallIntegers& integers, const double* weights, double* sums);

}  // namespace headrace
