// The buckets of a piece of keys, and items put to their places: the kernels' interface.
#pragma once

#include "arrange/histogram/histogram_kernels.hpp"

namespace headrace {

enum class RuleName : u8 { bits, any, between };

struct MultisplitKernels {
    // A bucket for each of n keys by a BitsOf, AnyOf or BetweenOf<Key> at `description`; null for no such pair.
    void (*find[3][7])(const void* keys, u64 n, const void* description, u32* buckets);

    // Item i to places[i]; of each width of items (1, 2, 4, 8 and 16 bytes).
    void (*put[5])(const void* items, u64 n, const u64* places, void* out);
};

}  // namespace headrace
