// Selecting from one piece of an array: the kernels' interface.
#pragma once

#include "core/cpu/streaming_stores.hpp"

namespace headrace {

struct SelectKernels {
    // How many flags are set.
    u64 (*count)(const u8* flags, u64 n);

    // The n items' selected ones to `out`; of each width of items (1, 2, 4, 8 and 16 bytes).
    void (*gather[5])(const void* items, const u8* flags, u64 n, void* out, Stores stores);
};

}  // namespace headrace
