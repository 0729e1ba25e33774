// Chooses the types of codes and values by their widths, and copies values.
#pragma once
#include <stdexcept>

#include "index/sorted_map/level.hpp"

namespace headrace {

// Calls work(Code{}) with the unsigned type of a width.
template <class Work>
void with_code(unsigned width, const Work& work) {
    if (width == 4) return work(u32{});
    if (width == 8) return work(u64{});
    throw std::invalid_argument("codes have 4 or 8 bytes");
}

// Copies value `from_at` of an array to value `to_at` of another one.
inline void copy_value(const void* from, u64 from_at, void* to, u64 to_at, unsigned width) {
    if (width == 4) static_cast<u32*>(to)[to_at] = static_cast<const u32*>(from)[from_at];
    if (width == 8) static_cast<u64*>(to)[to_at] = static_cast<const u64*>(from)[from_at];
}

inline void clear_value(void* to, u64 at, unsigned width) {
    if (width == 4) static_cast<u32*>(to)[at] = 0;
    if (width == 8) static_cast<u64*>(to)[at] = 0;
}

}  // namespace headrace
