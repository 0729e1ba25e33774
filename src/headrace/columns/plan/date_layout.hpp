// Compiles date formats to layouts (rules/dates/date_layout.hpp).
#pragma once

#include <vector>

#include "columns/rules/dates/date_layout.hpp"

namespace headrace {

// Append the layouts of a format: one for each place where its texts may end, as far as it has a layout.
void add_date_layouts(const DateFormat& format, usize number, std::vector<DateLayout>& layouts);

}  // namespace headrace
