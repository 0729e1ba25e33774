// Sorts codes by one thread if registers have at most 32 bytes. It is a radix sort from the highest bits that vary, by
// digits that leave a few items for insertion sort. Random keys of 8 bytes, 2^20 of them, move twice, by digits of 9
// and 8 bits.
//
// A pass reads its piece twice (which bits vary; which digits) and moves it once, to the other of two buffers. Equal
// digits keep their order. So if the lowest `ordered` bits of codes ascend with their positions (row numbers), only
// the other bits are sorted.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

constexpr int max_digit_bits = 11;

constexpr u64 items_left = 8;
constexpr u64 inserted_up_to = 32;

template <class T>
void insert_each(T* home, const T* from, u64 n) {
    for (u64 i = 0; i < n; ++i) {
        const T item = from[i];
        u64 at = i;
        for (; at > 0 && home[at - 1] > item; --at) home[at] = home[at - 1];
        home[at] = item;
    }
}

// Returns the bits of a digit for n items with `varying` bits to sort: one digit, or the first of several of equal
// width.
HR_FN int digit_bits(u64 n, int varying) {
    const int wanted = 63 - leading_zeros(n / items_left);
    const int passes = (wanted + max_digit_bits - 1) / max_digit_bits;
    const int bits = (wanted + passes - 1) / passes;
    return bits < varying ? bits : varying;
}

template <class T>
T varying_bits(const T* items, u64 n) {
    T any = 0, all = static_cast<T>(~T{0});
    for (u64 i = 0; i < n; ++i) {
        any |= items[i];
        all &= items[i];
    }
    return static_cast<T>(any ^ all);
}

// Sorts items at `home`, or at `away` if `is_home` is not set; both buffers have the same size. The result is at
// `home`.
template <class T>
void radix_sort(T* home, T* away, u64 n, bool is_home, int ordered) {
    if (n <= inserted_up_to) return insert_each(home, is_home ? home : away, n);
    T* const from = is_home ? home : away;
    T* const to = is_home ? away : home;
    const T varying = static_cast<T>(varying_bits(from, n) >> ordered << ordered);
    if (varying == 0) {
        if (!is_home) __builtin_memcpy(home, away, n * sizeof(T));
        return;
    }
    const int top = 64 - leading_zeros(varying);
    const int bits = digit_bits(n, top - ordered), shift = top - bits;
    const u32 mask = (1u << bits) - 1;
    u64 ends[1 << max_digit_bits];
    __builtin_memset(ends, 0, (u64{mask} + 1) * sizeof(u64));
    for (u64 i = 0; i < n; ++i) ++ends[static_cast<u32>(from[i] >> shift) & mask];
    u64 at = 0;
    for (u32 digit = 0; digit <= mask; ++digit) {
        const u64 found = ends[digit];
        ends[digit] = at;
        at += found;
    }
    for (u64 i = 0; i < n; ++i) to[ends[static_cast<u32>(from[i] >> shift) & mask]++] = from[i];
    at = 0;
    for (u32 digit = 0; digit <= mask; ++digit) {
        if (ends[digit] > at) radix_sort(home + at, away + at, ends[digit] - at, !is_home, ordered);
        at = ends[digit];
    }
}

HR_END_NAMESPACE
