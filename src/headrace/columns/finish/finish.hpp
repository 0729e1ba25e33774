// Finishes converted columns: removes rejected rows, makes validity bitmaps and narrows inferred types.
#pragma once

#include "columns/buffers/load_result.hpp"
#include "columns/plan/load_plan.hpp"
#include "sources/source.hpp"
#include "structure/dfa.hpp"

namespace headrace {

// Order the faults and finish the columns: remove the rows of field faults whose outcome is `reject`, and make validity
// bitmaps. With LoadPlan::shrink narrow inferred columns and find the field that decided each one's type. `is_shared`:
// the result is one of many, so its buffers are shrunk to their content.
void finish_result(const Source& source, const Dialect& dialect, const LoadPlan& plan, bool is_shared,
                   LoadResult& result);

// Narrow a column of int64 or float64 to the smallest type that holds its values. Return the row that decided the type,
// which the rows up to it need, or NO_ROW.
u64 shrink_column(LoadedColumn& column, u64 rows);

}  // namespace headrace
