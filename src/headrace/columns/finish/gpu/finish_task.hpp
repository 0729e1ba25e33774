// What the kernels are told that finish columns (finish.cu); finish.py packs the same structs. Pointers are to
// device memory.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// The types that a column of int64 may shrink to, in the order in which they are tried; of float64 it is the first that
// stands for float32.
constexpr u32 SHRUNK_TYPES = 6;

// A column of int64 or float64 before and after.
struct ShrunkColumn {
    const u64* from;
    u8* to;
    const u32* validity;
    u64* misfits;  // SHRUNK_TYPES words: the first row that each type does not hold; ~0 before
    u32 is_real;
    u32 width_to;  // bytes of a value
};
static_assert(sizeof(ShrunkColumn) == 40);

HR_END_NAMESPACE
