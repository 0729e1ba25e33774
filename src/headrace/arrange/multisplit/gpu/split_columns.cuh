// Describes the columns of values that move with the keys; the items of a column have one width.
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
