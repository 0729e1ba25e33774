// Chooses a type of items by their size.
#pragma once

#include <stdexcept>

#include "core/cpu/portable.hpp"

namespace headrace {

// An item of 16 bytes, for functions that copy items.
struct Item16 {
    u64 low, high;
};

// Calls work(T{}) with the type T among the given ones that has `width` bytes, and returns its result.
template <class First, class... Others, class Work>
auto with_width(unsigned width, const Work& work) {
    if (width == sizeof(First)) return work(First{});
    if constexpr (sizeof...(Others) == 0) {
        throw std::invalid_argument("no such width of items");
    } else {
        return with_width<Others...>(width, work);
    }
}

}  // namespace headrace
