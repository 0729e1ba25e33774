// Locates the fields that decided the types chosen by shrinking.
#pragma once

#include <vector>

#include "columns/buffers/load_result.hpp"
#include "columns/plan/load_plan.hpp"
#include "sources/source.hpp"
#include "structure/dfa.hpp"

namespace headrace {

// Set the evidence of each shrunk column: the first field that no narrower type can represent. `deciding_rows`: its row
// of the table for each column, or NO_ROW.
void locate_evidence(const Source& source, const Dialect& dialect, const LoadPlan& plan,
                     const std::vector<u64>& deciding_rows, LoadResult& result);

}  // namespace headrace
