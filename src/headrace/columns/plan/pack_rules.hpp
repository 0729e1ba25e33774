// A plan's words, marks, formats and zones as bytes that mean the same on a device: pointers are places in the bytes,
// to which whoever puts them somewhere adds where that is.
#pragma once

#include <string>
#include <vector>

#include "columns/plan/load_plan.hpp"

namespace headrace {

struct PackedRules {
    // First two FieldRules for each of the plan's forms (in columns of values, of text), and one of raw text; then a
    // Zone for each of the plan's zones; then what they point to.
    std::string bytes;
    std::vector<usize> pointers;  // bytes at which a pointer lies, each a multiple of 8
};

PackedRules pack_rules(const LoadPlan& plan);

}  // namespace headrace
