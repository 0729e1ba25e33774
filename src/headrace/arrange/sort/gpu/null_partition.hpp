// Declares the arguments of the kernels that partition rows by class (null_partition.cu).
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// The rows of a column, and the order of their classes.
struct ClassedRows {
    const u8* validity;  // null: no row is null
    const u8* truths;    // of bools; null: valid rows are one class
    u64 first;           // bit of row 0
    u64 count;
    u64 chunk;  // rows of a block, a multiple of a tile
    u32 nulls_first;
    u32 descending;  // true before false
};

// Outputs of the partition.
struct ClassSplit {
    const void* keys;  // null if they do not move, as with bools
    void* packed;      // output for the keys of valid rows
    void* places;      // null, or output for row numbers, the first `limit` of them
    u64 limit;
    u32 width;        // of a key
    u32 place_width;  // 4 or 8
};

HR_END_NAMESPACE
