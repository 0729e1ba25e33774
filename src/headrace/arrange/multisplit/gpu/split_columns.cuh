// Describes the columns of values that move with the keys; the items of a column have one width.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace {

constexpr u32 max_columns = 8;

struct Columns {
    const void* from[max_columns];
    void* to[max_columns];
    u32 width[max_columns];
    u32 count;
    u32 unused;
};

}  // namespace headrace
