// A bucket function that the caller built of operators (expression.py), as a program for a stack: keys in, values out.
//
// key * 2654435761 >> 24, for example, is: key, number 2654435761, multiply, number 24, shift right. Each instruction
// runs over a piece of keys that stays in the first cache, so its loop is one that compilers vectorise.
#pragma once
#include <string_view>
#include <vector>

#include "core/portable.hpp"

namespace headrace {

class Expression {
public:
    // Pairs of words: what to do, and the number where it is Operation::number.
    explicit Expression(std::string_view program);

    static constexpr usize piece = 2048;

    // Where values are kept while the function is computed; one for each thread.
    using Room = std::vector<u32>;
    Room room() const { return Room(most * piece); }

    // The values of `count` keys, `piece` at most, until the room is used again.
    const u32* of(const u32* keys, usize count, Room& room) const;

private:
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
        right
    };
    struct Step {
        Operation operation;
        u32 number;
    };
    struct Operand {
        const u32* values;  // null: all are `number`
        u32 number;
    };

    static void apply(Operation operation, Operand a, Operand b, u32* to, usize count);

    std::vector<Step> steps;
    usize most = 0;  // values on the stack
};

}  // namespace headrace
