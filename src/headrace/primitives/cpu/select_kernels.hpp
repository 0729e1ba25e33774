// Declares the CPU kernels that select from one piece of an array.
#pragma once

#include "core/cpu/streaming_stores.hpp"

namespace headrace {

struct SelectKernels {
    // Returns the number of set flags.
    u64 (*count)(const u8* flags, u64 n);

    // Writes the selected items of n to `out`; one function per item width (1, 2, 4, 8 and 16 bytes).
    void (*gather[5])(const void* items, const u8* flags, u64 n, void* out, Stores stores);
};

}  // namespace headrace
