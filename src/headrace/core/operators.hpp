// What a scan or a reduction joins items with. Each operator is associative and has an identity; none but those that
// say so commute, and every algorithm keeps the items' order for them. (Blelloch 1990, "Prefix sums and their
// applications", section 1.)
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// The map x -> scale x + offset modulo 2^32. Joining maps does not commute: every scan is tested with it.
struct Affine {
    u32 scale;
    u32 offset;
};

// Whether values of T that compare equal are the same bits, so that the order in which they are joined cannot show.
template <class T>
constexpr bool is_integer = static_cast<T>(1) / static_cast<T>(2) == static_cast<T>(0);

template <class T>
constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);

// The largest value, for example 2147483647 for i32 and infinity for float.
template <class T>
HR_FN T highest() {
    if constexpr (!is_integer<T>) {
        if constexpr (sizeof(T) == 4) {
            return bits_as<T>(0x7F800000u);
        } else {
            return bits_as<T>(static_cast<u64>(0x7FF0000000000000));
        }
    } else if constexpr (is_signed<T>) {
        return static_cast<T>(~static_cast<u64>(0) >> (65 - 8 * sizeof(T)));
    } else {
        return static_cast<T>(~static_cast<u64>(0));
    }
}

template <class T>
HR_FN T lowest() {
    if constexpr (!is_integer<T>) {
        return -highest<T>();
    } else {
        return static_cast<T>(-highest<T>() - (is_signed<T> ? 1 : 0));
    }
}

// Sums of unsigned words, modulo their size: those of signed ones have the same bits. Not of floating point, whose sums
// depend on how they are grouped.
template <class T>
struct Sum {
    using Item = T;
    static constexpr bool commutes = true;
    HR_FN T identity() { return 0; }
    HR_FN T join(T a, T b) {
        static_assert(is_integer<T> && !is_signed<T>);
        return a + b;
    }
};

// Of equal values the first; a NaN wins, the first of them.
template <class T>
struct Min {
    using Item = T;
    static constexpr bool commutes = is_integer<T>;
    HR_FN T identity() { return highest<T>(); }
    HR_FN T join(T a, T b) { return b < a || (b != b && a == a) ? b : a; }
};

template <class T>
struct Max {
    using Item = T;
    static constexpr bool commutes = is_integer<T>;
    HR_FN T identity() {
        if constexpr (is_signed<T> || !is_integer<T>) {
            return lowest<T>();
        } else {
            return 0;
        }
    }
    HR_FN T join(T a, T b) { return a < b || (b != b && a == a) ? b : a; }
};

// First `a`, then `b`: c(ax + b) + d.
template <class T>
struct Compose {
    using Item = Affine;
    static constexpr bool commutes = false;
    HR_FN Affine identity() { return {1, 0}; }
    HR_FN Affine join(Affine a, Affine b) { return {b.scale * a.scale, b.scale * a.offset + b.offset}; }
};

HR_END_NAMESPACE
