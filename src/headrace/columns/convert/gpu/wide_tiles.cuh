// Bounds of wide tiles: tiles of few rows of many columns, which the general path converts with a column per lane.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace {

constexpr u32 few_rows = 32;  // a lane per row leaves lanes idle if there are fewer rows than lanes
// Fixed-width columns from which on the general path gives each lane a column: fewer columns leave lanes idle.
constexpr u32 lane_columns = 32;
// Columns from which on the fast path leaves such a tile to the general path. This bound counts all columns, also
// strings, which the general path does not convert with a column per lane.
constexpr u32 declined_columns = 48;
static_assert(declined_columns >= lane_columns);

}  // namespace headrace
