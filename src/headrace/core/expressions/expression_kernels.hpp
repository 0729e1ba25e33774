// One operation of an expression over a piece of values: the kernels' interface.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

enum class Operation : u32 {
    key,   // of 16 bytes, their lower word
    high,  // the upper one
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
    divide  // of floating point
};

template <class Value>
struct Operand {
    const Value* values;  // null: all are `number`
    Value number;
};

// Not both operands are a number; what is divided or shifted by is one. `to` may be where a or b has its values.
template <class Value>
using ApplyOperation = void (*)(Operation operation, Operand<Value> a, Operand<Value> b, Value* to, usize count);

// The types of values, in the order of their numbers in a program.
struct ExpressionKernels {
    ApplyOperation<u32> of_u32;
    ApplyOperation<i32> of_i32;
    ApplyOperation<u64> of_u64;
    ApplyOperation<i64> of_i64;
    ApplyOperation<float> of_float;
    ApplyOperation<double> of_double;
};

}  // namespace headrace
