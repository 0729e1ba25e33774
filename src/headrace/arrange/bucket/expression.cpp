#include "arrange/bucket/expression.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace headrace {

HR_FOR_EACH_ISA(ApplyOperation(), apply_operation)

Expression::Expression(std::string_view program, Isa isa)
    : steps(program.size() / sizeof(Step)), apply(apply_operation_for(isa)()) {
    std::memcpy(static_cast<void*>(steps.data()), program.data(), steps.size() * sizeof(Step));
    usize depth = 0;
    Step before{Operation::key, 0};
    for (const Step& step : steps) {
        if (step.operation > Operation::unequal) throw std::invalid_argument("no such operation");
        const bool leaf = step.operation <= Operation::number;
        if (!leaf && depth < 2) throw std::invalid_argument("an operation lacks what it is applied to");
        const bool divides = step.operation == Operation::divide || step.operation == Operation::remain;
        if (divides && (before.operation != Operation::number || before.number == 0)) {
            throw std::invalid_argument("divided by nothing, or by what is no number");
        }
        depth += leaf ? 1 : -usize{1};
        most = std::max(most, depth);
        before = step;
    }
    if (depth != 1) throw std::invalid_argument("an expression has one value");
}

const u32* Expression::of(const u32* keys, usize count, Room& room) const {
    std::vector<Operand> stack;
    for (const Step& step : steps) {
        if (step.operation == Operation::key) {
            stack.push_back({keys, 0});
        } else if (step.operation == Operation::number) {
            stack.push_back({nullptr, step.number});
        } else {
            const Operand b = stack.back();
            stack.pop_back();
            u32* const to = room.data() + (stack.size() - 1) * piece;
            if (stack.back().values == nullptr && b.values == nullptr) {
                std::fill_n(to, count, stack.back().number);
                stack.back().values = to;
            }
            apply(step.operation, stack.back(), b, to, count);
            stack.back() = {to, 0};
        }
    }
    if (stack.back().values == nullptr) {
        std::fill_n(room.begin(), count, stack.back().number);
        return room.data();
    }
    return stack.back().values;
}

}  // namespace headrace
