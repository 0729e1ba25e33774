// The order in which floating point is summed, so that a sum is the same to the bit on every device and for every
// number of threads. The rule, for an array of any length:
//
//   1. It is cut into pieces of 4,096 items; the last may have fewer.
//   2. Item i of a piece goes to lane i modulo 128; a lane adds its items in their order.
//   3. The lanes are added by halves: lane l and lane l + 64 for l < 64, then l and l + 32, .. until one is left.
//   4. The sums of the pieces are an array, which is summed by the same rule, until there is one item.
//
// What is not there is -0, which changes nothing when it is added. A result that is not a number is the quiet one with
// no sign, since processors disagree about which one they make. (Why lanes and halves: SIMD registers of any width, and
// a warp, do 2 and 3 without moving an item. Error: Higham 1993, "The accuracy of floating point summation".)
//
// An item passes at most 31 + 7 additions a level and there are at most 3 levels for 2^36 items, so the error is at
// most (38 x levels) u times the sum of the absolute values, u = 2^-24 for float, 2^-53 for double, but for terms in
// u^2.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

struct SumOrder {
    static constexpr u32 piece = 4096, lanes = 128;
};

// What is not there.
template <class T>
HR_FN T no_float() {
    return -static_cast<T>(0);
}

// A result as it is told: of all that are not numbers the one.
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
