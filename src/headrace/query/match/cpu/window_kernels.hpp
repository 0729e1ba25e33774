// Declares the CPU kernel that finds the places where one of several windows may occur. A window is a sequence of up to
// four sets of bytes, of which each match of an expression has one.
#pragma once

#include "query/find/cpu/find_kernels.hpp"

namespace headrace {

constexpr u32 max_window = 4;

// Windows are in up to 8 buckets. Each entry has a bit for each bucket.
struct LineWindows {
    u32 width;                 // sets of a window, 1 to max_window
    u32 lead;                  // 1 if a window may begin with the line end before its line, otherwise 0
    bool has_tail;             // whether a window may end with the line end
    u8 sets[max_window][256];  // whether byte i of a window of the bucket may have this value
    // The same for the byte's low and high four bits, each alone, and for its low six bits, for lookups in vectors.
    alignas(16) u8 low[max_window][16], high[max_window][16];
    alignas(64) u8 six[max_window][64];
};

struct WindowKernels {
    // Finds positions in the range where a bucket has all `width` bytes.
    void (*find)(const LineWindows& windows, const FindRange& range, FoundPositions& found);
};

}  // namespace headrace
