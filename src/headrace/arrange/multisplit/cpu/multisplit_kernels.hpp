// Declares the CPU kernels that compute buckets of a chunk of keys and scatter items.
#pragma once

#include "arrange/histogram/histogram_kernels.hpp"

namespace headrace {

enum class RuleName : u8 { bits, any, between };

struct MultisplitKernels {
    // Computes the bucket of n keys by the BitsOf, AnyOf or BetweenOf<Key> at `description`; indexed by rule and key.
    void (*find[3][7])(const void* keys, u64 n, const void* description, u32* buckets);

    // Stores item i at places[i]; one function per item width (1, 2, 4, 8 and 16 bytes).
    void (*put[5])(const void* items, u64 n, const u64* places, void* out);
};

}  // namespace headrace
