// Replaces the hits of a pattern in host memory.
#pragma once

#include <functional>
#include <string_view>

#include "query/find/cpu/find.hpp"

namespace headrace {

// Calls `allocate` once with the number of bytes of the result, and writes it. Hits that overlap the previous replaced
// one are not replaced.
void pattern_replace(const FindPattern& pattern, const FindText& text, std::string_view replacement,
                     const std::function<u8*(u64)>& allocate, const FindResources& resources);

}  // namespace headrace
