// Runs the operations of expression.hpp, compiled once per instruction set: loops that compilers vectorise.
#include "core/expressions/expression_kernels.hpp"

#include "core/cpu/vectors.hpp"
#include "core/expressions/expression_values.hpp"

HR_BEGIN_NAMESPACE
namespace {

// Each result depends only on the operands at the same index, so results may overwrite operands.
template <class Value, class Result, class Function>
void each(Operand<Value> a, Operand<Value> b, Result* to, usize count, Function function) {
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
bool apply_to_whole(ExpressionOperation operation, Operand<Value> a, Operand<Value> b, Value* to, usize count) {
    switch (operation) {
        case ExpressionOperation::quotient:
        case ExpressionOperation::remain:
            divide(a, b.number, operation == ExpressionOperation::remain, to, count);
            return true;
        case ExpressionOperation::left:
            each(a, b, to, count, [](Value x, Value y) { return shifted_left(x, y); });
            return true;
        case ExpressionOperation::right:
            each(a, b, to, count, [](Value x, Value y) { return shifted_right(x, y); });
            return true;
        default:
            return false;
    }
}

template <class Value>
void apply(ExpressionOperation operation, Operand<Value> a, Operand<Value> b, Value* to, usize count) {
    const auto run = [&](auto function) { each(a, b, to, count, function); };
    if constexpr (Modular<Value>::whole) {
        if (apply_to_whole(operation, a, b, to, count)) return;
    } else if (operation == ExpressionOperation::divide) {
        return run([](Value x, Value y) { return x / y; });
    }
    switch (operation) {
        case ExpressionOperation::add:
            return run([](Value x, Value y) { return added(x, y); });
        case ExpressionOperation::subtract:
            return run([](Value x, Value y) { return subtracted(x, y); });
        case ExpressionOperation::multiply:
            return run([](Value x, Value y) { return multiplied(x, y); });
        case ExpressionOperation::conjoin:
            return run([](Value x, Value y) { return conjoined(x, y); });
        case ExpressionOperation::disjoin:
            return run([](Value x, Value y) { return disjoined(x, y); });
        case ExpressionOperation::differ:
            return run([](Value x, Value y) { return differing(x, y); });
        case ExpressionOperation::less:
            return run([](Value x, Value y) { return static_cast<Value>(x < y); });
        case ExpressionOperation::at_most:
            return run([](Value x, Value y) { return static_cast<Value>(x <= y); });
        case ExpressionOperation::more:
            return run([](Value x, Value y) { return static_cast<Value>(x > y); });
        case ExpressionOperation::at_least:
            return run([](Value x, Value y) { return static_cast<Value>(x >= y); });
        case ExpressionOperation::equal:
            return run([](Value x, Value y) { return static_cast<Value>(x == y); });
        case ExpressionOperation::unequal:
            return run([](Value x, Value y) { return static_cast<Value>(x != y); });
        default:
            return;
    }
}

template <class Value>
void compare(ExpressionOperation operation, Operand<Value> a, Operand<Value> b, u8* to, usize count) {
    const auto run = [&](auto function) { each(a, b, to, count, function); };
    switch (operation) {
        case ExpressionOperation::less:
            return run([](Value x, Value y) -> u8 { return x < y; });
        case ExpressionOperation::at_most:
            return run([](Value x, Value y) -> u8 { return x <= y; });
        case ExpressionOperation::more:
            return run([](Value x, Value y) -> u8 { return x > y; });
        case ExpressionOperation::at_least:
            return run([](Value x, Value y) -> u8 { return x >= y; });
        case ExpressionOperation::equal:
            return run([](Value x, Value y) -> u8 { return x == y; });
        default:
            return run([](Value x, Value y) -> u8 { return x != y; });
    }
}

}  // namespace

const ExpressionKernels& expression_kernels() {
    static constexpr ExpressionKernels kernels = {apply<u32>,     apply<i32>,     apply<u64>,   apply<i64>,
                                                  apply<float>,   apply<double>,  compare<i64>, compare<u64>,
                                                  compare<float>, compare<double>};
    return kernels;
}

HR_END_NAMESPACE
