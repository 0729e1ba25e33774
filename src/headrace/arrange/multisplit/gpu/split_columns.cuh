// What goes with keys: a few columns of values, each of items of one width.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace {

constexpr u32 most_columns = 8;

struct Columns {
    const void* from[most_columns];
    void* to[most_columns];
    u32 width[most_columns];
    u32 count;
    u32 unused;
};

}  // namespace headrace
