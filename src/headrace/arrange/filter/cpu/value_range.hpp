// Finds the rows that have the minimum and the maximum of a column in host memory.
#pragma once
#include "arrange/filter/filter.hpp"

namespace headrace {

// Row numbers. Both are `no_row` if no row has a value.
struct ValueRange {
    static constexpr u64 no_row = ~u64{0};
    u64 low = no_row;
    u64 high = no_row;
};

// Returns the first row of the minimum and of the maximum among `rows` rows. Nulls and NaN have no place in the range.
// Texts are ordered by their bytes. Bytes moved per row: those of the column.
ValueRange value_range(const FilterColumn& column, u64 rows);

}  // namespace headrace
