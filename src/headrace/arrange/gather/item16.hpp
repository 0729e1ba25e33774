// Defines an item of 16 bytes, for functions that copy items by width.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

struct Item16 {
    u64 low, high;
};

}  // namespace headrace
