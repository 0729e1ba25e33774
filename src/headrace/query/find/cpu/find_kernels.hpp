// Declares the CPU kernel that finds a pattern at the positions of a range.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

constexpr u32 max_probes = 16;

// A byte of the pattern that is compared at 64 positions at once.
struct Probe {
    u64 offset;      // from the pattern's first byte
    u8 byte, other;  // both cases of a letter if case is ignored, otherwise equal
};

// A pattern, and the bytes of it to compare first in one text.
struct FindPlan {
    const u8* pattern;   // folded if case is ignored
    u64 length;          // bytes, at least 1
    u64 period;          // smallest p > 0 with pattern[i] == pattern[i + p]; `length` if there is none
    const u32* borders;  // borders[i]: length of the longest proper border of the first i bytes, 0 <= i <= length
    bool ignore_case;
    u32 probe_count;  // min(length, max_probes)
    u32 head;         // probes to compare before the first branch: most blocks have no position left after them
    Probe probes[max_probes];
};

// Where the pattern may begin: every position from begin to end, of which each has all its bytes in the text.
struct FindRange {
    const u8* text;
    u64 begin, end;
};

// The first `capacity` positions are written. The search ends after `limit` positions.
struct FoundPositions {
    u64* out;
    u64 capacity;
    u64 limit;
    u64 count = 0;
    u64 gap = 0;           // least distance of two positions; the first one counts
    u64 entry = 0;         // least position that counts next
    bool by_line = false;  // whether only the first position of each line counts
};

struct PatternKernels {
    void (*find)(const FindPlan& plan, const FindRange& range, FoundPositions& found);
};

}  // namespace headrace
