// Declares the CPU kernels that combine one piece of an array. Items are passed as their bits in a word.
#pragma once

#include "core/cpu/streaming_stores.hpp"
#include "core/operators.hpp"

namespace headrace {

enum class Join : u8 { sum, min, max, compose };
enum class ItemType : u8 { u32, i32, u64, i64, f32, f64 };

struct ScanKernels {
    u32 width;  // bytes per item
    u64 (*identity)();
    u64 (*join)(u64 a, u64 b);

    // Returns all items, combined in order.
    u64 (*reduce)(const void* in, u64 count);

    // Writes the combination of `before` and the items up to each item, or before it if exclusive. Returns `before`
    // combined with all items.
    u64 (*scan)(const void* in, void* out, u64 count, u64 before, Stores stores);
    u64 (*scan_exclusive)(const void* in, void* out, u64 count, u64 before, Stores stores);
};

// Returns the sum of items of 32 bits modulo 2^64; signed items are sign-extended.
using WidenedSum = u64 (*)(const void* in, u64 count);

}  // namespace headrace
