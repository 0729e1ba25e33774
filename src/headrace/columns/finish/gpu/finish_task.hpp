// Declares the arguments of the kernels that finish columns (finish.cu). Pointers are to device memory.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Number of types that int64 may shrink to, tried in the order of `types_of`. For float64 only the first is used:
// float32.
constexpr u32 SHRUNK_TYPES = 6;

// A column of int64 or float64 before and after.
struct ShrunkColumn {
    const u64* from;
    u8* to;
    const u32* validity;
    u64* misfits;  // SHRUNK_TYPES words: the first row that each type cannot represent; ~0 before the launch
    u32 is_real;
    u32 width_to;  // bytes of a value
};

HR_END_NAMESPACE
