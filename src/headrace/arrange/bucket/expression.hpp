// A bucket function that the caller built of operators (expression.py), as a program for a stack: keys in, values out.
//
// key * 2654435761 >> 24, for example, is: key, number 2654435761, multiply, number 24, shift right. Each instruction
// runs over a piece of keys that stays in the first cache.
#pragma once
#include <string_view>
#include <vector>

#include "arrange/bucket/expression_kernels.hpp"
#include "core/cpu.hpp"

namespace headrace {

class Expression {
public:
    // Pairs of words: what to do, and the number where it is Operation::number.
    Expression(std::string_view program, Isa isa);

    static constexpr usize piece = 2048;

    // Where values are kept while the function is computed; one for each thread.
    using Room = std::vector<u32>;
    Room room() const { return Room(most * piece); }

    // The values of `count` keys, `piece` at most, until the room is used again.
    const u32* of(const u32* keys, usize count, Room& room) const;

private:
    struct Step {
        Operation operation;
        u32 number;
    };

    std::vector<Step> steps;
    usize most = 0;  // values on the stack
    ApplyOperation apply;
};

}  // namespace headrace
