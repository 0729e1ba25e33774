// Chooses the bytes of a pattern that are compared first: the rarest ones of a sample of the text.
#pragma once

#include "query/find/cpu/find.hpp"
#include "query/find/cpu/find_kernels.hpp"

namespace headrace {

// Reads some thousand bytes of the text. The plan refers to the pattern's memory.
FindPlan find_plan(const FindPattern& pattern, const FindText& text);

}  // namespace headrace
