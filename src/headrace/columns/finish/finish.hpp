// What is left to do when all tiles are converted: faulty rows out, null marks to validity, types as small as they may
// be.
#pragma once

#include "columns/plan/load_plan.hpp"

namespace headrace {

// Orders the faults; with OnError::reject takes the rows of value faults out of every column; makes validity bitmaps;
// with LoadPlan::shrink narrows inferred columns, and finds the field that settled each one's type.
void finish_result(const Source& source, const Dialect& dialect, const LoadPlan& plan, LoadResult& result);

// By record, then column. A record as a whole may have two faults, a quote that is text and a field too many: by place.
void order_faults(std::deque<FaultRow>& faults);

// Of ordered faults: all faults of a record that one of them rejects reject it.
void reject_whole_records(std::deque<FaultRow>& faults);

constexpr u64 NO_ROW = ~u64{0};

// The smallest type that holds the values of a column of int64 or float64. Returns the row that settled it, or NO_ROW:
// rows up to it need the type.
u64 shrink_column(LoadedColumn& column, u64 rows);

}  // namespace headrace
