// Chooses the type of codes by their width.
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

}  // namespace headrace
