// Where results go on their way to memory.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

enum class Stores : u8 {
    cached,
    // Past the cache: a line that is overwritten whole need not be read first, which costs as much as writing it.
    streamed,
};

// Results that the cache has no room for, or not much, are worth more to nobody in it.
constexpr u64 streamed_from = u64{8} << 20;

constexpr Stores stores_for(u64 bytes) { return bytes < streamed_from ? Stores::cached : Stores::streamed; }

}  // namespace headrace
