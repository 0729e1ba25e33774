// Serialises the conversion rules of a plan into one relocatable buffer. Pointers are stored as offsets; the caller
// adds the base address after the upload.
#pragma once

#include <string>
#include <vector>

#include "columns/plan/load_plan.hpp"

namespace headrace {

struct PackedRules {
    // Two FieldRules for each of the plan's forms (for columns of values, of text) and one for raw text. Then a Zone
    // for each of the plan's zones. The objects that they point to follow.
    std::string bytes;
    std::vector<usize> pointers;  // offsets of the pointers, each a multiple of 8
};

PackedRules pack_rules(const LoadPlan& plan);

}  // namespace headrace
