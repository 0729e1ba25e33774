// Extracts the digit of a code in a bucket whose range is divided into equal shares (key_range.hpp).
#pragma once
#include "arrange/sort/gpu/common/digit.cuh"
#include "arrange/sort/gpu/common/key_range.hpp"
#include "arrange/sort/gpu/common/sort_task.hpp"

namespace headrace {

// Whether the first pass of an MSD sort is by splitters and later ones divide ranges. Only keys of 8 bytes have
// splitters (SPLITTER_KEY_BYTES in lsd/tuning.py).
static __device__ __forceinline__ bool has_ranges(const DevicePlan& plan) {
    return !with_equals && sizeof(Key) == 8 && plan.has_splitters != 0;
}

struct RangeDigit {
    Key low;
    u32 zeros, scale;

    RangeDigit() = default;
    __device__ __forceinline__ explicit RangeDigit(const KeyRange& range)
        : low(static_cast<Key>(range.low)), zeros(range.zeros - (64 - key_bits)), scale(range.scale) {}

    __device__ __forceinline__ u32 operator()(Key code) const {
        const Key shifted = static_cast<Key>(static_cast<Key>(code - low) << zeros);
        return __umulhi(static_cast<u32>(shifted >> (key_bits - 32)), scale);
    }
};

}  // namespace headrace
