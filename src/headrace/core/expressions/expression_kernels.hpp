// Declares the CPU kernels that run one operation of an expression over a piece of values.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

enum class ExpressionOperation : u32 {
    key,   // for keys of 16 bytes the lower word
    high,  // the upper word
    number,
    add,
    subtract,
    multiply,
    conjoin,
    disjoin,
    differ,
    quotient,
    remain,
    left,
    right,
    less,
    at_most,
    more,
    at_least,
    equal,
    unequal,
    divide  // floats only
};

template <class Value>
struct Operand {
    const Value* values;  // null if all values are `number`
    Value number;
};

// Applies an operation. At most one operand is a number; divisors and shifts are numbers. `to` may be the values of a
// or b.
template <class Value>
using ApplyOperation = void (*)(ExpressionOperation operation, Operand<Value> a, Operand<Value> b, Value* to,
                                usize count);

// Writes the truth of a comparison, 1 or 0. At most one operand is a number.
template <class Value>
using CompareValues = void (*)(ExpressionOperation operation, Operand<Value> a, Operand<Value> b, u8* to, usize count);

// One kernel per type of values, in the order of their numbers in a program; then comparisons.
struct ExpressionKernels {
    ApplyOperation<u32> of_u32;
    ApplyOperation<i32> of_i32;
    ApplyOperation<u64> of_u64;
    ApplyOperation<i64> of_i64;
    ApplyOperation<float> of_float;
    ApplyOperation<double> of_double;
    CompareValues<i64> compare_i64;
    CompareValues<u64> compare_u64;
    CompareValues<float> compare_float;
    CompareValues<double> compare_double;
};

}  // namespace headrace
