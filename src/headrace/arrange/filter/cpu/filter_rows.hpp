// Finds the rows of columns in host memory for which a condition is true.
#pragma once
#include <functional>

#include "arrange/filter/filter.hpp"
#include "core/cpu/isa.hpp"

namespace headrace {

// `allocate`: returns memory for n row numbers. Writes the numbers of the rows that are selected, ascending, unless all
// are. Returns the number of those rows. Bytes moved per row: those of the program's columns, and 8 per row that is
// selected.
u64 filter_rows(const FilterProgram& program, u64 rows, const std::function<u64*(u64)>& allocate, Isa isa,
                unsigned threads);

}  // namespace headrace
