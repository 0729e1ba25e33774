// Defines the constants of the two floating-point formats, and assembles a value from its parts.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

template <class T>
struct FloatFormat;

// w * 10^power with 0 < w < 2^64 is below half of the smallest subnormal if power < lowest_power, and above every
// finite value if power > highest_power.
template <>
struct FloatFormat<double> {
    using Bits = u64;
    static constexpr i32 precision = 53;  // bits of a significand, with the hidden one
    static constexpr i32 smallest_exponent = -1022;
    static constexpr i32 infinite_scale = 2047;
    static constexpr i32 lowest_power = -342;
    static constexpr i32 highest_power = 308;
    static constexpr i32 largest_exact_power = 22;  // 10^22 = 2^22 * 5^22, and 5^22 has 52 bits
};

template <>
struct FloatFormat<float> {
    using Bits = u32;
    static constexpr i32 precision = 24;
    static constexpr i32 smallest_exponent = -126;
    static constexpr i32 infinite_scale = 255;
    static constexpr i32 lowest_power = -64;
    static constexpr i32 highest_power = 38;
    static constexpr i32 largest_exact_power = 10;
};

// Returns significand * 2^(smallest_exponent + 1 - precision + scale). A significand below 2^(precision - 1) is
// subnormal and has scale 0. The hidden bit of a normal significand adds one to the exponent field, and so does a
// significand that was rounded up to 2^precision: 1.11...1 becomes 10.0 without further steps. Values that are too
// large become infinity.
template <class T>
HR_FN T assemble(u64 significand, i32 scale) {
    using Format = FloatFormat<T>;
    constexpr i32 FRACTION_BITS = Format::precision - 1;
    constexpr u64 INFINITY_BITS = static_cast<u64>(Format::infinite_scale) << FRACTION_BITS;
    const u64 bits = (static_cast<u64>(scale) << FRACTION_BITS) + significand;
    return bits_as<T>(static_cast<typename Format::Bits>(bits < INFINITY_BITS ? bits : INFINITY_BITS));
}

template <class T>
HR_FN T infinite() {
    return assemble<T>(0, FloatFormat<T>::infinite_scale);
}

// Also changes the sign of a NaN, which an arithmetic negation need not do.
template <class T>
HR_FN T with_sign(T magnitude, bool negative) {
    using Bits = typename FloatFormat<T>::Bits;
    const Bits sign = static_cast<Bits>(negative ? 1 : 0) << (8 * sizeof(T) - 1);
    return bits_as<T>(bits_as<Bits>(magnitude) | sign);
}

HR_END_NAMESPACE
