// Which bucket a key is in, for CPU and GPU alike, even parts of a range; what is between edges is in cells.hpp. Keys
// are of u8, u16, u32, u64, float or double; signed ones are the unsigned ones of their width, since all that is asked
// of a whole number is how far it is past the lowest, modulo 2^width.
//
// m buckets of the same width over [low, high); whatever is outside, NaN too, is in bucket m. Whole numbers are exact,
// floor((key - low) m / r) for r = high - low. Where r / m is a power of two that is a shift. Otherwise, of 32 bits,
// let M = ceil(2^64 m / r): the high word of (key - low) M errs by less than (key - low) / 2^64 < 1 / r, which is less
// than what the fraction lacks of 1; and from high on it is m or more. Of 64 bits the same with 2^128. Floating point
// is one subtraction and one multiplication, rounded.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// What keys are compared as.
template <class Key>
struct Widened {
    using Type = u32;
    static constexpr bool whole = true;
    // How far the key is past `low`; of floating point the key itself.
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

// The high word of x M, where M has 64 bits and x 32; of 128 bits, M's words high and below, and 64.
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

// How keys fall into even parts. `multiplier`: M, or 0 where parts are found by `shift`.
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
