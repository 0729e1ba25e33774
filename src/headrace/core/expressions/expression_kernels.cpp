// Runs the operations of expression.hpp, compiled once per instruction set: loops that compilers vectorise.
#include "core/expressions/expression_kernels.hpp"

#include "core/cpu/vectors.hpp"
#include "core/expressions/expression_values.hpp"

HR_BEGIN_NAMESPACE
namespace {

// Each result depends only on the operands at the same index, so results may overwrite operands.
template <class Value, class Function>
void each(Operand<Value> a, Operand<Value> b, Value* to, usize count, Function function) {
    if (a.values != nullptr && b.values != nullptr) {
#pragma GCC ivdep
        for (usize i = 0; i < count; ++i) to[i] = function(item_at(a.values + i), item_at(b.values + i));
    } else if (a.values != nullptr) {
#pragma GCC ivdep
        for (usize i = 0; i < count; ++i) to[i] = function(item_at(a.values + i), b.number);
    } else {
#pragma GCC ivdep
        for (usize i = 0; i < count; ++i) to[i] = function(a.number, item_at(b.values + i));
    }
}

// Divides by multiplication, for d > 1: with M = ceil(2^64 / d), the error of the high word of x M is below
// x / 2^64 < 1 / d.
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

void divide(Operand<u32> a, u32 d, bool remains, u32* to, usize count) {
    const Operand<u32> by{nullptr, d};
    if (d == 1) return each(a, by, to, count, [remains](u32 x, u32) { return remains ? 0 : x; });
    const Divisor divisor(d);
    if (remains) return each(a, by, to, count, [divisor](u32 x, u32 y) { return x - divisor.quotient(x) * y; });
    each(a, by, to, count, [divisor](u32 x, u32) { return divisor.quotient(x); });
}
template <class Value>
void divide(Operand<Value> a, Value d, bool remains, Value* to, usize count) {
    const Operand<Value> by{nullptr, d};
    if (remains) return each(a, by, to, count, [](Value x, Value y) { return remainder_of(x, y); });
    each(a, by, to, count, [](Value x, Value y) { return quotient_of(x, y); });
}

template <class Value>
bool apply_to_whole(Operation operation, Operand<Value> a, Operand<Value> b, Value* to, usize count) {
    switch (operation) {
        case Operation::quotient:
        case Operation::remain:
            divide(a, b.number, operation == Operation::remain, to, count);
            return true;
        case Operation::left:
            each(a, b, to, count, [](Value x, Value y) { return shifted_left(x, y); });
            return true;
        case Operation::right:
            each(a, b, to, count, [](Value x, Value y) { return shifted_right(x, y); });
            return true;
        default:
            return false;
    }
}

template <class Value>
void apply(Operation operation, Operand<Value> a, Operand<Value> b, Value* to, usize count) {
    const auto run = [&](auto function) { each(a, b, to, count, function); };
    if constexpr (Modular<Value>::whole) {
        if (apply_to_whole(operation, a, b, to, count)) return;
    } else if (operation == Operation::divide) {
        return run([](Value x, Value y) { return x / y; });
    }
    switch (operation) {
        case Operation::add:
            return run([](Value x, Value y) { return added(x, y); });
        case Operation::subtract:
            return run([](Value x, Value y) { return subtracted(x, y); });
        case Operation::multiply:
            return run([](Value x, Value y) { return multiplied(x, y); });
        case Operation::conjoin:
            return run([](Value x, Value y) { return conjoined(x, y); });
        case Operation::disjoin:
            return run([](Value x, Value y) { return disjoined(x, y); });
        case Operation::differ:
            return run([](Value x, Value y) { return differing(x, y); });
        case Operation::less:
            return run([](Value x, Value y) { return static_cast<Value>(x < y); });
        case Operation::at_most:
            return run([](Value x, Value y) { return static_cast<Value>(x <= y); });
        case Operation::more:
            return run([](Value x, Value y) { return static_cast<Value>(x > y); });
        case Operation::at_least:
            return run([](Value x, Value y) { return static_cast<Value>(x >= y); });
        case Operation::equal:
            return run([](Value x, Value y) { return static_cast<Value>(x == y); });
        case Operation::unequal:
            return run([](Value x, Value y) { return static_cast<Value>(x != y); });
        default:
            return;
    }
}

}  // namespace

const ExpressionKernels& expression_kernels() {
    static constexpr ExpressionKernels kernels = {apply<u32>, apply<i32>,   apply<u64>,
                                                  apply<i64>, apply<float>, apply<double>};
    return kernels;
}

HR_END_NAMESPACE
