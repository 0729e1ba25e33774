// Orders the faults of a load and applies the outcome of each record.
#pragma once

#include <deque>

#include "columns/buffers/load_result.hpp"

namespace headrace {

// Sort faults by record, then column. A record may have two faults of its own, a quote in an unquoted field and a
// surplus field: these are sorted by byte.
void order_faults(std::deque<FaultRow>& faults);

// Reject every fault of each record that has a rejected one. The faults must be ordered.
void reject_whole_records(std::deque<FaultRow>& faults);

// Remove all faults except the first whose outcome is `raise`. There must be one.
void keep_first_raised(LoadResult& result);

}  // namespace headrace
