#include "arrange/expression.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace headrace {
namespace {

// `to` may be where a or b has its values: an item depends on its own alone.
template <class Function>
void each(const u32* a, const u32* b, u32 a_number, u32 b_number, u32* to, usize count, Function function) {
    if (a != nullptr && b != nullptr) {
#pragma GCC ivdep
        for (usize i = 0; i < count; ++i) to[i] = function(a[i], b[i]);
    } else if (a != nullptr) {
#pragma GCC ivdep
        for (usize i = 0; i < count; ++i) to[i] = function(a[i], b_number);
    } else {
#pragma GCC ivdep
        for (usize i = 0; i < count; ++i) to[i] = function(a_number, b[i]);
    }
}

// Quotients by multiplication: with M = ceil(2^64 / d) the high word of x M errs by less than x / 2^64 < 1 / d.
struct Divisor {
    u32 high, low;
    explicit Divisor(u32 d) {
        const u64 multiplier = ~u64{0} / d + 1;
        high = static_cast<u32>(multiplier >> 32);
        low = static_cast<u32>(multiplier);
    }
    u32 quotient(u32 x) const {
        return static_cast<u32>((static_cast<u64>(x) * high + (static_cast<u64>(x) * low >> 32)) >> 32);
    }
};

}  // namespace

Expression::Expression(std::string_view program) : steps(program.size() / sizeof(Step)) {
    std::memcpy(static_cast<void*>(steps.data()), program.data(), steps.size() * sizeof(Step));
    usize depth = 0;
    for (const Step& step : steps) {
        if (step.operation > Operation::right) throw std::invalid_argument("no such operation");
        const bool leaf = step.operation <= Operation::number;
        if (!leaf && depth < 2) throw std::invalid_argument("an operation lacks what it is applied to");
        depth += leaf ? 1 : -usize{1};
        most = std::max(most, depth);
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

void Expression::apply(Operation operation, Operand a, Operand b, u32* to, usize count) {
    const auto run = [&](auto function) { each(a.values, b.values, a.number, b.number, to, count, function); };
    if (operation >= Operation::divide && b.values != nullptr)
        throw std::invalid_argument("divided by what is no number");
    switch (operation) {
        case Operation::key:
        case Operation::number:
            return;
        case Operation::add:
            return run([](u32 x, u32 y) { return x + y; });
        case Operation::subtract:
            return run([](u32 x, u32 y) { return x - y; });
        case Operation::multiply:
            return run([](u32 x, u32 y) { return x * y; });
        case Operation::conjoin:
            return run([](u32 x, u32 y) { return x & y; });
        case Operation::disjoin:
            return run([](u32 x, u32 y) { return x | y; });
        case Operation::differ:
            return run([](u32 x, u32 y) { return x ^ y; });
        case Operation::left:
            return run([](u32 x, u32 y) { return x << (y & 31); });
        case Operation::right:
            return run([](u32 x, u32 y) { return x >> (y & 31); });
        case Operation::divide:
        case Operation::remain:
            break;
    }
    const bool remains = operation == Operation::remain;
    if (b.number == 0) throw std::invalid_argument("divided by nothing");
    if (b.number == 1) {
        if (remains) return run([](u32, u32) { return 0u; });
        return run([](u32 x, u32) { return x; });
    }
    const Divisor by(b.number);
    if (remains) return run([by](u32 x, u32 y) { return x - by.quotient(x) * y; });
    run([by](u32 x, u32) { return by.quotient(x); });
}

}  // namespace headrace
