// Finds rows of imported Arrow arrays that refer to bytes or values outside of their buffers.
#pragma once

#include <vector>

#include "core/cpu/portable.hpp"

namespace headrace {

// Bits of the rows of an array, 1 for a value; `bits` is null if no row is null.
struct ArrowValidity {
    const u8* bits = nullptr;
    i64 first = 0;  // bit of the first row

    bool is_null(i64 row) const {
        const i64 at = first + row;
        return bits != nullptr && (bits[at >> 3] >> (at & 7) & 1) == 0;
    }
};

// Each function returns the first wrong row, or -1. Buffers start at the first row.

// A text ends before it begins, or is not within `size` bytes. `width`: bytes of an offset, 4 or 8.
i64 wrong_offset(const u8* offsets, int width, i64 rows, i64 size);

// A code is not below `count`. `width`: bytes of a code; negative codes are large ones here. Null rows may have any.
i64 wrong_code(const u8* codes, int width, i64 rows, u64 count, ArrowValidity validity);

// A text of more than 12 bytes is not within its buffer, one of `sizes`. Null rows may have any view.
i64 wrong_view(const u8* views, i64 rows, const std::vector<i64>& sizes, ArrowValidity validity);

// Set the items of null rows to zeros. `width`: bytes of an item.
void clear_nulls(u8* items, int width, i64 rows, ArrowValidity validity);

}  // namespace headrace
