// Defines the order in which floats are summed. A sum is the same to the bit on every device and for every number of
// threads. The rule for an array of any length is:
//
//   1. The array is cut into pieces of 4,096 items; the last may have fewer.
//   2. Item i of a piece goes to lane i modulo 128; a lane adds its items in their order.
//   3. The lanes are added by halves: lane l and lane l + 64 for l < 64, then l and l + 32, .. until one is left.
//   4. The sums of the pieces form an array, which is summed by the same rule, until there is one item.
//
// Missing items are -0, which changes nothing when it is added. A NaN result is the quiet NaN without a sign, since
// processors produce different NaNs. With lanes and halves, SIMD registers of any width and warps run steps 2 and 3
// without moving items. Error bounds: Higham 1993, "The accuracy of floating point summation".
//
// An item passes at most 31 + 7 additions per level, and 2^36 items have at most 3 levels. Up to terms in u^2, the
// error is at most (38 x levels) u times the sum of the absolute values. Here u is 2^-24 for float and 2^-53 for
// double.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

struct SumOrder {
    static constexpr u32 piece = 4096, lanes = 128;
};

// The value of missing items.
template <class T>
HR_FN T no_float() {
    return -static_cast<T>(0);
}

// Returns a result with every NaN replaced by the quiet NaN without a sign.
template <class T>
HR_FN T one_nan(T sum) {
    if (sum == sum) return sum;
    if constexpr (sizeof(T) == 4) {
        return bits_as<T>(0x7FC00000u);
    } else {
        return bits_as<T>(static_cast<u64>(0x7FF8000000000000));
    }
}

HR_END_NAMESPACE
