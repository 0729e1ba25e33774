// Declares the arguments of the kernels that replace texts in a string column (patch_strings.cu). Pointers are to
// device memory.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Row rows[k] receives bytes [ends[k], ends[k + 1]) of `texts`. shifts[k]: distance, modulo 2^64, by which texts move
// that follow exactly k such rows; shifts[count]: the total.
struct PatchTask {
    const u64* rows;  // row indices, ascending
    u64 count;
    const u64* ends;
    const u8* texts;
    u64* shifts;
    const u8* offsets;  // before
    u8* offsets_to;
    const u8* bytes;  // before
    u8* bytes_to;
    u32* validity;  // set to 1 for rows that receive a text
    u64 length;     // rows of the column
    u32 width;      // bytes of an offset
    u32 width_to;
};

HR_END_NAMESPACE
