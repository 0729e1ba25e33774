// Defines the operators of scans and reductions. Each is associative and has an identity. Operators commute only if
// their comments state it; for the others every algorithm keeps the order of the items. (Blelloch 1990, "Prefix sums
// and their applications", section 1.)
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// The map x -> scale x + offset modulo 2^32. Composition of such maps does not commute, so every scan is tested with
// it.
struct Affine {
    u32 scale;
    u32 offset;
};

// True for integer types: equal values have equal bits, so the order of combination cannot change the result.
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

// Sum of unsigned words, modulo their size; sums of signed words have the same bits. Floating-point sums are excluded,
// because they depend on the grouping.
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

// Minimum; the first of equal values. If there is a NaN, the first NaN.
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

// Composition, `a` first: with a = (s, o) and b = (t, p), x -> t (s x + o) + p.
template <class T>
struct Compose {
    using Item = Affine;
    static constexpr bool commutes = false;
    HR_FN Affine identity() { return {1, 0}; }
    HR_FN Affine join(Affine a, Affine b) { return {b.scale * a.scale, b.scale * a.offset + b.offset}; }
};

HR_END_NAMESPACE
