// Declares the arguments of the kernels that concatenate columns (concat.cu). Pointers are to device memory.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// A part of the result: the rows of a column, or nulls if `is_rows` is 0.
struct JoinedPart {
    const u8* values;     // fixed width, bits, or the bytes of strings
    const u8* offsets;    // strings only
    const u32* validity;  // or null: all rows are valid
    u64 rows;
    u64 to;        // first row in the result
    u64 to_bytes;  // strings: offset of its text in the result
    u64 bytes;     // strings: bytes of its text
    u32 width;     // bytes of an offset
    u32 is_rows;
    u32 buffers_before;  // views: number of buffers of long texts in the parts before
    u32 reserved;
};

// The result. Values and validity are zero before the launch.
struct JoinedColumn {
    u8* values;
    u8* offsets;
    u32* validity;
    u32 width;  // bytes of a value, or of an offset; 0: bits
    u32 strings;
    u32 views;
    u32 reserved;
};

HR_END_NAMESPACE
