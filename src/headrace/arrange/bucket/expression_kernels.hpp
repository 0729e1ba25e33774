// One operation of an expression over a piece of values: the kernels' interface.
#pragma once

#include "core/portable.hpp"

namespace headrace {

enum class Operation : u32 {
    key,
    number,
    add,
    subtract,
    multiply,
    conjoin,
    disjoin,
    differ,
    divide,
    remain,
    left,
    right,
    less,
    at_most,
    more,
    at_least,
    equal,
    unequal
};

struct Operand {
    const u32* values;  // null: all are `number`
    u32 number;
};

// Not both operands are a number; what is divided by is one, and not 0. `to` may be where a or b has its values.
using ApplyOperation = void (*)(Operation operation, Operand a, Operand b, u32* to, usize count);

}  // namespace headrace
