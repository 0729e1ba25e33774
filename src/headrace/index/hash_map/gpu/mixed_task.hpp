// Declares a batch of mixed operations, which kernels take by value.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

struct MixedTask {
    const u8* operations;  // MapOperation
    const void* keys;
    const void* values;  // null for sets
    void* held;          // value of each key before its operation, 0 for an absent key; null for sets or if not needed
    u8* found;           // whether the key was present then; null if not needed
    u64 count;
    u64 kind;   // NumberKind of the values
    u64 known;  // a bit for each operation that the map has
};

HR_END_NAMESPACE
