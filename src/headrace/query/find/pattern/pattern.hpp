// Prepares a pattern for searches: its folded bytes, its period and its borders.
#pragma once

#include <string_view>
#include <vector>

#include "core/cpu/portable.hpp"

namespace headrace {

struct FindPattern {
    // Takes time and 5 bytes of memory per byte of the pattern, which has 1 to 2^31 bytes.
    FindPattern(std::string_view pattern, bool folds_case);

    // Offset of a window of `width` bytes, at most the length. Of the first 4,096 windows it has the most distinct
    // bytes from `begin` to `end`. A filter that compares them finds few false hits in repetitive texts.
    u64 varied_window(u64 width, u64 begin, u64 end) const;

    std::vector<u8> bytes;  // folded if case is ignored
    bool ignore_case;
    // borders[i]: length of the longest proper border of the first i bytes. For "abab" 0 0 0 1 2.
    std::vector<u32> borders;
    u64 period;  // smallest p > 0 with bytes[i] == bytes[i + p]; the length if there is none
};

}  // namespace headrace
