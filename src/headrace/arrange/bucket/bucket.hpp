// Computes buckets of equal width over a range, for CPU and GPU; buckets between edges are in cells.hpp.
//
// Keys are u8, u16, u32, u64, float or double. Signed integers are read as unsigned, since buckets only depend on the
// distance from the lowest key, modulo 2^width.
//
// There are m buckets over [low, high); all other keys, and NaN, are in bucket m. Buckets of integers are exact:
// floor((key - low) m / r) for r = high - low. If r / m is a power of two, this is a shift. Otherwise, for 32 bits, let
// M = ceil(2^64 m / r). The high word of (key - low) M has an error below (key - low) / 2^64 < 1 / r. That is less than
// the distance of the fraction from 1. For keys from high on, the high word is at least m. Keys of 64 bits work
// likewise with 2^128. Buckets of floats take one subtraction and one multiplication, each rounded.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// The type that keys are compared in.
template <class Key>
struct Widened {
    using Type = u32;
    static constexpr bool whole = true;
    // Returns the distance of the key from `low`; for floats the key itself.
    HR_FN u32 of(Key key, u32 low) { return static_cast<Key>(key - low); }
};
template <>
struct Widened<u64> {
    using Type = u64;
    static constexpr bool whole = true;
    HR_FN u64 of(u64 key, u64 low) { return key - low; }
};
template <>
struct Widened<float> {
    using Type = float;
    static constexpr bool whole = false;
    HR_FN float of(float key, float) { return key; }
};
template <>
struct Widened<double> {
    using Type = double;
    static constexpr bool whole = false;
    HR_FN double of(double key, double) { return key; }
};

// Returns the high word of x M. Either x has 32 bits and M has 64, or x has 64 bits and M has two words, high and
// below.
HR_FN u32 high_word(u32 x, u64 multiplier) {
    return static_cast<u32>(
        (static_cast<u64>(x) * (multiplier >> 32) + (static_cast<u64>(x) * (multiplier & 0xFFFFFFFF) >> 32)) >> 32);
}
HR_FN u64 high_word(u64 x, u64 high, u64 below) {
    const Product product = multiply_wide(x, high);
    const u64 sum = product.low + multiply_wide(x, below).high;
    return product.high + (sum < product.low ? 1 : 0);
}

HR_FN u32 at_most(u32 x, u32 most) { return x < most ? x : most; }

// Buckets of equal width. `multiplier`: M, or 0 if the bucket is found by `shift`.
template <class Key>
struct Even {
    u64 multiplier;
    u32 low;
    u32 shift;

    HR_FN bool by_shift(const Even& even) { return even.multiplier == 0; }

    template <bool by_shift>
    HR_FN u32 part(const Even& even, Key key, u32 count) {
        const u32 past = Widened<Key>::of(key, even.low);
        if constexpr (by_shift) return at_most(past >> even.shift, count);
        return at_most(high_word(past, even.multiplier), count);
    }
};

template <>
struct Even<u64> {
    u64 high;
    u64 below;  // the low word of M
    u64 low;
    u64 shift;

    HR_FN bool by_shift(const Even& even) { return (even.high | even.below) == 0; }

    template <bool by_shift>
    HR_FN u32 part(const Even& even, u64 key, u32 count) {
        const u64 past = key - even.low;
        u64 part = past >> even.shift;
        if constexpr (!by_shift) part = high_word(past, even.high, even.below);
        return part < count ? static_cast<u32>(part) : count;
    }
};

template <class Float>
struct EvenFloat {
    Float low;
    Float high;
    Float parts_per_unit;
    Float unused;

    HR_FN bool by_shift(const EvenFloat&) { return false; }

    template <bool by_shift>
    HR_FN u32 part(const EvenFloat& even, Float key, u32 count) {
        const u32 part = at_most(whole_part((key - even.low) * even.parts_per_unit), count - 1);
        return key >= even.low && key < even.high ? part : count;
    }
};
template <>
struct Even<float> : EvenFloat<float> {};
template <>
struct Even<double> : EvenFloat<double> {};

HR_END_NAMESPACE
