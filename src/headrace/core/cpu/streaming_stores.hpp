// Chooses between cached and streaming stores for a result.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

enum class Stores : u8 {
    cached,
    // Bypass the cache: a line that is overwritten entirely is not read first, which would cost as much as writing it.
    streamed,
};

// Results of at least this many bytes do not benefit from staying in the cache.
constexpr u64 streamed_from = u64{8} << 20;

constexpr Stores stores_for(u64 bytes) { return bytes < streamed_from ? Stores::cached : Stores::streamed; }

}  // namespace headrace
