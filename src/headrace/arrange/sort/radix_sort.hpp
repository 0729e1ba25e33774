// Codes in the order of their values, in cache, by one thread: radix sort from the highest bits that vary, by digits of
// which a bucket is left with few enough for quicksort (or, without AVX-512, for insertion). Of random keys of 8 bytes,
// 2^16 are moved once by a digit of 9 bits, then sorted by networks.
//
// A pass reads its piece twice (what varies; which digits) and moves it once, to the other of two places. Equal digits
// keep their order, so codes whose lowest `ordered` bits rise with their places (numbers of rows) need the others
// sorted only.
#pragma once

#include "arrange/sort/quick_sort.hpp"

HR_BEGIN_NAMESPACE

constexpr int most_digit_bits = 11;

#if defined(HR_ISA_AVX512)
// A digit should leave so many; below the second number quicksort needs no digits. Its comparisons of 8 bytes cost
// twice those of 4, a digit's counters do not.
template <class T>
constexpr u64 items_left = sizeof(T) == 8 ? 80 : 4096;
template <class T>
constexpr u64 radix_from = sizeof(T) == 8 ? 4096 : 1 << 17;

template <class T>
void sort_leaf(T* home, T* away, u64 n, bool is_home) {
    QuickSort<T>::sort(home, away, n, is_home);
}
#else
template <class T>
constexpr u64 items_left = 8;
template <class T>
constexpr u64 radix_from = 33;

template <class T>
void sort_leaf(T* home, T* away, u64 n, bool is_home) {
    const T* const from = is_home ? home : away;
    for (u64 i = 0; i < n; ++i) {
        const T item = from[i];
        u64 at = i;
        for (; at > 0 && home[at - 1] > item; --at) home[at] = home[at - 1];
        home[at] = item;
    }
}
#endif

// Bits of a digit for n items of which `varying` bits are to be sorted: one digit, or the first of two or more alike.
template <class T>
constexpr int digit_bits(u64 n, int varying) {
    const u64 buckets = n / items_left<T>;
    const int wanted = buckets < 2 ? 1 : 63 - __builtin_clzll(buckets);
    const int passes = (wanted + most_digit_bits - 1) / most_digit_bits;
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

// Items are at `home`, or `away` where `is_home` is not set; the other place is as large. They end up at home.
template <class T>
void radix_sort(T* home, T* away, u64 n, bool is_home, int ordered) {
    if (n < radix_from<T>) return sort_leaf(home, away, n, is_home);
    T* const from = is_home ? home : away;
    T* const to = is_home ? away : home;
    const T varying = static_cast<T>(varying_bits(from, n) >> ordered << ordered);
    if (varying == 0) {
        if (!is_home) __builtin_memcpy(home, away, n * sizeof(T));
        return;
    }
    const int top = 64 - leading_zeros(varying);
    const int bits = digit_bits<T>(n, top - ordered), shift = top - bits;
    const u32 mask = (1u << bits) - 1;
    u64 ends[1 << most_digit_bits];
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
