// Joining one piece of an array: the kernels' interface. An item is handed over as its bits in a word.
#pragma once

#include "core/cpu/streaming_stores.hpp"
#include "core/operators.hpp"

namespace headrace {

enum class Join : u8 { sum, min, max, compose };
enum class ItemType : u8 { u32, i32, u64, i64, f32, f64 };

struct ScanKernels {
    u32 width;  // bytes of an item
    u64 (*identity)();
    u64 (*join)(u64 a, u64 b);

    // All items joined in their order.
    u64 (*reduce)(const void* in, u64 count);

    // Writes what `before` and the items up to each one give, exclusive: without that one. Returns `before` joined with
    // all items.
    u64 (*scan)(const void* in, void* out, u64 count, u64 before, Stores stores);
    u64 (*scan_exclusive)(const void* in, void* out, u64 count, u64 before, Stores stores);
};

// The sum modulo 2^64 of items of 32 bits; signed ones are extended with their sign.
using WidenedSum = u64 (*)(const void* in, u64 count);

}  // namespace headrace
