// Which instruction set the kernels use: the best that the machine has, or the one that HEADRACE_ISA or a caller names.
#pragma once

#include <string_view>
#include <vector>

namespace headrace {

enum class Isa { scalar, avx2, avx512 };

// Every instruction set that this build and this machine have, the best first.
const std::vector<Isa>& available_isas();

// The instruction set of that name; an empty name asks for the best (or for HEADRACE_ISA, where that is set).
// Throws std::invalid_argument for an unknown name or one that this machine lacks.
Isa choose_isa(std::string_view name);

std::string_view isa_name(Isa isa);

}  // namespace headrace
