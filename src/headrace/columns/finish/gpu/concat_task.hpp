// What the kernels that put columns below each other (concat.cu) are told; concat.py packs the same struct.
// Pointers are to device memory.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// A part of a joined column: the rows of a column, or, where `values` is null and `is_rows` 0, nulls.
struct JoinedPart {
    const u8* values;     // fixed width, bits, or the bytes of strings
    const u8* offsets;    // of strings
    const u32* validity;  // or null: every row has a value
    u64 rows;
    u64 to;        // its first row in the column
    u64 to_bytes;  // strings: where its text goes
    u64 bytes;     // of text
    u32 width;     // bytes of an offset
    u32 is_rows;
};
static_assert(sizeof(JoinedPart) == 64);

// The column. Values and validity are zero before the launch.
struct JoinedColumn {
    u8* values;
    u8* offsets;
    u32* validity;
    u32 width;  // bytes of a value, or of an offset; 0: bits
    u32 strings;
};
static_assert(sizeof(JoinedColumn) == 32);

HR_END_NAMESPACE
