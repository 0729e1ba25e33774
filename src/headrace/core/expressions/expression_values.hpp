// Defines the operators of expressions for each type of values, for CPU and GPU.
//
// Integers wrap modulo 2 to the number of their bits. Divisors are positive, and quotients are rounded down, as in
// Python. For floats each step is rounded. The value of a comparison is 1 or 0; &, | and ^ of floats only combine
// comparisons.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// The type that sums are computed in: signed integers wrap like unsigned ones.
template <class Value>
struct Modular {
    using Type = Value;
    static constexpr bool whole = Value(1) / Value(2) == Value(0);
};
template <>
struct Modular<i32> : Modular<u32> {};
template <>
struct Modular<i64> : Modular<u64> {};

template <class Value, class Sum = typename Modular<Value>::Type>
HR_FN Value added(Value a, Value b) {
    return static_cast<Value>(static_cast<Sum>(a) + static_cast<Sum>(b));
}
template <class Value, class Sum = typename Modular<Value>::Type>
HR_FN Value subtracted(Value a, Value b) {
    return static_cast<Value>(static_cast<Sum>(a) - static_cast<Sum>(b));
}
template <class Value, class Sum = typename Modular<Value>::Type>
HR_FN Value multiplied(Value a, Value b) {
    return static_cast<Value>(static_cast<Sum>(a) * static_cast<Sum>(b));
}

template <class Value>
HR_FN Value conjoined(Value a, Value b) {
    if constexpr (Modular<Value>::whole)
        return a & b;
    else
        return a * b;
}
template <class Value>
HR_FN Value disjoined(Value a, Value b) {
    if constexpr (Modular<Value>::whole)
        return a | b;
    else
        return a > b ? a : b;
}
template <class Value>
HR_FN Value differing(Value a, Value b) {
    if constexpr (Modular<Value>::whole)
        return a ^ b;
    else
        return a == b ? Value(0) : Value(1);
}

template <class Value>
inline constexpr bool is_unsigned = Value(-1) > Value(0);

template <class Value>
HR_FN Value remainder_of(Value a, Value divisor) {
    const Value rest = a % divisor;
    if constexpr (is_unsigned<Value>)
        return rest;
    else
        return rest < 0 ? rest + divisor : rest;
}
template <class Value>
HR_FN Value quotient_of(Value a, Value divisor) {
    const Value quotient = a / divisor;
    if constexpr (is_unsigned<Value>)
        return quotient;
    else
        return a % divisor < 0 ? quotient - 1 : quotient;
}

template <class Value, class Sum = typename Modular<Value>::Type>
HR_FN Value shifted_left(Value a, Value by) {
    return static_cast<Value>(static_cast<Sum>(a) << static_cast<u32>(by));
}
template <class Value>
HR_FN Value shifted_right(Value a, Value by) {
    return a >> static_cast<u32>(by);
}

// Returns a value as a bucket number: its integer part, or ~0 for negative or too large values and NaN.
HR_FN u32 bucket_of(u32 value) { return value; }
HR_FN u32 bucket_of(u64 value) { return value >> 32 == 0 ? static_cast<u32>(value) : ~0u; }
HR_FN u32 bucket_of(i32 value) { return value < 0 ? ~0u : static_cast<u32>(value); }
HR_FN u32 bucket_of(i64 value) { return bucket_of(static_cast<u64>(value)); }
HR_FN u32 bucket_of(float value) { return value >= 0 ? whole_part(value) : ~0u; }
HR_FN u32 bucket_of(double value) { return value >= 0 ? whole_part(value) : ~0u; }

HR_END_NAMESPACE
