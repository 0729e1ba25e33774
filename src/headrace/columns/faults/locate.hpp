// Where the fields are that settled the types which shrinking chose.
#pragma once

#include <vector>

#include "columns/buffers/load_result.hpp"
#include "columns/plan/load_plan.hpp"
#include "sources/source.hpp"
#include "structure/dfa.hpp"

namespace headrace {

// Gives every shrunk column the first field as evidence that no narrower type would have held. `settled` names a row of
// the table for each column that shrinking looked at, or NO_ROW.
void locate_evidence(const Source& source, const Dialect& dialect, const LoadPlan& plan,
                     const std::vector<u64>& settled, LoadResult& result);

}  // namespace headrace
