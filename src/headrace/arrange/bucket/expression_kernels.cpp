// The operations of expression.hpp, compiled once for each instruction set: loops that compilers vectorise.
#include "arrange/bucket/expression_kernels.hpp"

#include "core/vectors.hpp"

HR_BEGIN_NAMESPACE
namespace {

// An item depends on its own alone, so results may take the place of operands.
template <class Function>
void each(Operand a, Operand b, u32* to, usize count, Function function) {
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

// Quotients by multiplication, for d > 1: with M = ceil(2^64 / d) the high word of x M errs by less than
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

void divide(Operand a, u32 d, bool remains, u32* to, usize count) {
    const Operand by{nullptr, d};
    if (d == 1) return each(a, by, to, count, [remains](u32 x, u32) { return remains ? 0 : x; });
    const Divisor divisor(d);
    if (remains) return each(a, by, to, count, [divisor](u32 x, u32 y) { return x - divisor.quotient(x) * y; });
    each(a, by, to, count, [divisor](u32 x, u32) { return divisor.quotient(x); });
}

void apply(Operation operation, Operand a, Operand b, u32* to, usize count) {
    const auto run = [&](auto function) { each(a, b, to, count, function); };
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
        case Operation::less:
            return run([](u32 x, u32 y) { return u32{x < y}; });
        case Operation::at_most:
            return run([](u32 x, u32 y) { return u32{x <= y}; });
        case Operation::more:
            return run([](u32 x, u32 y) { return u32{x > y}; });
        case Operation::at_least:
            return run([](u32 x, u32 y) { return u32{x >= y}; });
        case Operation::equal:
            return run([](u32 x, u32 y) { return u32{x == y}; });
        case Operation::unequal:
            return run([](u32 x, u32 y) { return u32{x != y}; });
        case Operation::divide:
        case Operation::remain:
            return divide(a, b.number, operation == Operation::remain, to, count);
    }
}

}  // namespace

ApplyOperation apply_operation() { return apply; }

HR_END_NAMESPACE
