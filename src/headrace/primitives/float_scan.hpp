// Defines the order in which running sums of floats are added. A running sum is the same to the bit on every device and
// for every number of threads. The rule for an array of any length is:
//
//   1. The array is cut into groups of 64 items. In a group, items are added one by one: its local sums.
//   2. The last local sum of each group forms an array, whose running sums are found by the same rule.
//   3. The result is the running sum of all groups before, plus the local sum. The first group has its local sums.
//
// An item passes at most 64 additions per level, and 2^36 items have 6 levels. A NaN result is the quiet NaN without a
// sign (float_sum.hpp).
#pragma once
#include "primitives/float_sum.hpp"

HR_BEGIN_NAMESPACE

constexpr u64 scan_group = 64;

HR_FN u64 group_count(u64 items) { return (items + scan_group - 1) / scan_group; }
HR_FN u64 group_size(u64 items, u64 group) {
    const u64 left = items - group * scan_group;
    return left < scan_group ? left : scan_group;
}

// Returns the sum of a group of 1 to 64 items.
template <class T>
HR_FN T sum_group(const T* in, u64 size) {
    T sum = in[0];
    for (u64 i = 1; i < size; ++i) sum += in[i];
    return sum;
}

// Writes the running sums of a group: `before` is the running sum up to the group, or null for the first group. Results
// from number `limit` on are not written. `in` may be `out`.
template <class T>
HR_FN void scan_items(const T* in, u64 size, const T* before, T* out, u64 limit) {
    T sum = in[0];
    for (u64 i = 0; i < size && i < limit; ++i) {
        if (i > 0) sum += in[i];
        out[i] = one_nan(before == nullptr ? sum : *before + sum);
    }
}

HR_END_NAMESPACE
