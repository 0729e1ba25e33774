// A plan's words, marks, formats and zones as bytes that mean the same on a device: pointers are those of the place
// that the bytes will lie in.
#pragma once

#include <string>

#include "columns/load/load.hpp"

namespace headrace {

// First a FieldRules for each of the plan's forms, and one of raw text; then a Zone for each of the plan's zones; then
// what they point to. `address`: where byte 0 will lie, a multiple of 8.
std::string pack_rules(const LoadPlan& plan, u64 address);

}  // namespace headrace
