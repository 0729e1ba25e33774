// Summarizes a byte range of a source for every automaton state before it, without reading anything before the range.
#pragma once

#include "sources/source.hpp"
#include "structure/cpu/find.hpp"
#include "structure/cpu/survey.hpp"

namespace headrace {

// Bytes [plan.begin, plan.end) of the source. The summaries of adjacent ranges compose (structure/state_map.py). With
// lenient quotes, the source is also read beyond the range: what a quote means depends on the text around it.
StateCounts summarize(const Source& source, const Dialect& dialect, const SurveyPlan& plan);

}  // namespace headrace
