// Finds many patterns at once in host memory.
#pragma once

#include <functional>
#include <tuple>

#include "query/find/cpu/find.hpp"
#include "query/find/pattern/pattern_set.hpp"

namespace headrace {

// Memory for the position and the pattern of each hit.
struct HitArrays {
    u64* positions;
    u32* patterns;
};

// Call `allocate` once with the number of hits, and write them, ordered by position and then by pattern.
void patterns_positions(const FindPatterns& patterns, const FindText& text,
                        const std::function<HitArrays(u64)>& allocate, unsigned threads);

// Write the number of hits of each pattern.
void patterns_counts(const FindPatterns& patterns, const FindText& text, u64* counts, unsigned threads);

}  // namespace headrace
