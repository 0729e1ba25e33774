// What the kernels that put texts into a column of strings (patch_strings.cu) are told; patch_strings.py packs the same
// struct. Pointers are to device memory.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Of the k-th row that gets another text: `rows[k]`, and its text is bytes [ends[k], ends[k + 1]) of `texts`.
// `shifts[k]`: how far the texts behind k such rows move, modulo 2^64; `shifts[count]` of all.
struct SpliceTask {
    const u64* rows;  // ascending
    u64 count;
    const u64* ends;
    const u8* texts;
    u64* shifts;
    const u8* offsets;  // of the column before
    u8* offsets_to;
    const u8* bytes;
    u8* bytes_to;
    u32* validity;  // of the rows that get a text it becomes 1
    u64 length;     // rows of the column
    u32 width;      // bytes of an offset
    u32 width_to;
};
static_assert(sizeof(SpliceTask) == 96);

HR_END_NAMESPACE
