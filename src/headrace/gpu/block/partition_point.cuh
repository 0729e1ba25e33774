// Binary search by one thread.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace::tile {

// Returns the first index of [low, high) for which `is_before` does not hold, or `high`. It holds for all indices
// before that one. Example: the rows before row 7 of rows 2, 5, 7, 9 are those below partition_point(0, 4, ...) = 2.
template <class IsBefore>
HR_FN u64 partition_point(u64 low, u64 high, const IsBefore& is_before) {
    while (low < high) {
        const u64 middle = (low + high) / 2;
        if (is_before(middle)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

}  // namespace headrace::tile
