// Selects hits that do not overlap, from all hits.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

// Keep the first of the ascending positions, and then each first one that is `length` or more past the one before.
// Return the number of positions that are left.
inline u64 select_apart(u64* positions, u64 count, u64 length) {
    u64 selected = 0, least = 0;
    for (u64 i = 0; i < count; ++i) {
        const u64 position = positions[i];
        if (position < least) continue;
        positions[selected++] = position;
        least = position + length;
    }
    return selected;
}

}  // namespace headrace
