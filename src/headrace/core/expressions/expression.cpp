#include "core/expressions/expression.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "core/expressions/expression_values.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const ExpressionKernels&(), expression_kernels)

namespace {

struct Head {
    u32 values;
    u32 unused;
};

struct ExpressionStep {
    ExpressionOperation operation;
    u32 unused;
    u64 number;  // a value, in its lowest bytes
};

std::vector<ExpressionStep> steps_of(std::string_view program) {
    std::vector<ExpressionStep> steps((program.size() - sizeof(Head)) / sizeof(ExpressionStep));
    std::memcpy(static_cast<void*>(steps.data()), program.data() + sizeof(Head), steps.size() * sizeof(ExpressionStep));
    return steps;
}

// Returns the maximum depth of the stack; throws if the program is not valid.
usize deepest(const std::vector<ExpressionStep>& steps) {
    usize depth = 0, most = 0;
    ExpressionStep before{ExpressionOperation::key, 0, 0};
    for (const ExpressionStep& step : steps) {
        if (step.operation > ExpressionOperation::divide) throw std::invalid_argument("no such operation");
        const bool leaf = step.operation <= ExpressionOperation::number;
        if (!leaf && depth < 2) throw std::invalid_argument("an operation lacks what it is applied to");
        const bool divides =
            step.operation == ExpressionOperation::quotient || step.operation == ExpressionOperation::remain;
        if (divides && (before.operation != ExpressionOperation::number || before.number == 0)) {
            throw std::invalid_argument("divided by nothing, or by what is no number");
        }
        depth += leaf ? 1 : -usize{1};
        most = std::max(most, depth);
        before = step;
    }
    if (depth != 1) throw std::invalid_argument("an expression has one value");
    return most;
}

// Converts item `at` of each key, which has `items` items, to a value.
template <class Item, class Value>
void widen(const void* keys, u64 n, u32 items, u32 at, Value* values) {
    const auto* const bytes = static_cast<const u8*>(keys) + at * sizeof(Item);
    for (u64 i = 0; i < n; ++i) {
        Item item;
        std::memcpy(&item, bytes + i * items * sizeof(Item), sizeof(Item));
        values[i] = static_cast<Value>(item);
    }
}

template <class Value>
class Evaluation final : public Expression {
public:
    using Widen = void (*)(const void* keys, u64 n, u32 items, u32 at, Value* values);

    Evaluation(std::string_view program, Widen widening, u32 words, ApplyOperation<Value> apply)
        : steps_(steps_of(program)), most_(deepest(steps_)), widen_(widening), words_(words), apply_(apply) {
        for (const ExpressionStep& step : steps_) {
            if (step.operation == ExpressionOperation::high && words == 1)
                throw std::invalid_argument("keys have one word");
        }
    }

    Find begin() const override {
        return [this, scratch = std::vector<Value>((most_ + words_) * piece)](const void* keys, u64 n,
                                                                              u32* buckets) mutable {
            Value* const leaves = scratch.data() + most_ * piece;
            for (u32 word = 0; word < words_; ++word) widen_(keys, n, words_, word, leaves + word * piece);
            const Value* const found = values_of(leaves, n, scratch);
            for (u64 i = 0; i < n; ++i) buckets[i] = bucket_of(found[i]);
        };
    }

private:
    Operand<Value> leaf(const ExpressionStep& step, const Value* leaves) const {
        if (step.operation != ExpressionOperation::number)
            return {leaves + static_cast<u32>(step.operation) * piece, 0};
        Operand<Value> found{nullptr, 0};
        std::memcpy(&found.number, &step.number, sizeof(Value));
        return found;
    }

    const Value* values_of(const Value* leaves, usize count, std::vector<Value>& scratch) const {
        std::vector<Operand<Value>> stack;
        for (const ExpressionStep& step : steps_) {
            if (step.operation <= ExpressionOperation::number) {
                stack.push_back(leaf(step, leaves));
                continue;
            }
            const Operand<Value> b = stack.back();
            stack.pop_back();
            Value* const to = scratch.data() + (stack.size() - 1) * piece;
            if (stack.back().values == nullptr && b.values == nullptr) {
                std::fill_n(to, count, stack.back().number);
                stack.back().values = to;
            }
            apply_(step.operation, stack.back(), b, to, count);
            stack.back() = {to, 0};
        }
        if (stack.back().values != nullptr) return stack.back().values;
        std::fill_n(scratch.begin(), count, stack.back().number);
        return scratch.data();
    }

    std::vector<ExpressionStep> steps_;
    usize most_;  // maximum depth of the stack
    Widen widen_;
    u32 words_;  // words per key
    ApplyOperation<Value> apply_;
};

template <class Value, class Item>
std::unique_ptr<const Expression> evaluation(std::string_view program, ApplyOperation<Value> apply, u32 words = 1) {
    return std::make_unique<Evaluation<Value>>(program, widen<Item, Value>, words, apply);
}

}  // namespace

std::unique_ptr<const Expression> Expression::of(std::string_view program, std::string_view key, Isa isa) {
    Head head{};
    if (program.size() < sizeof(Head)) throw std::invalid_argument("not a program");
    std::memcpy(&head, program.data(), sizeof(Head));
    const ExpressionKernels& kernels = expression_kernels_for(isa)();
    const u32 values = head.values;
    if (values == 0 && key == "u8") return evaluation<u32, u8>(program, kernels.of_u32);
    if (values == 0 && key == "u16") return evaluation<u32, u16>(program, kernels.of_u32);
    if (values == 0 && key == "u32") return evaluation<u32, u32>(program, kernels.of_u32);
    if (values == 1 && key == "u8") return evaluation<i32, i8>(program, kernels.of_i32);
    if (values == 1 && key == "u16") return evaluation<i32, i16>(program, kernels.of_i32);
    if (values == 1 && key == "u32") return evaluation<i32, i32>(program, kernels.of_i32);
    if (values == 2 && key == "u64") return evaluation<u64, u64>(program, kernels.of_u64);
    if (values == 2 && key == "WideKey") return evaluation<u64, u64>(program, kernels.of_u64, 2);
    if (values == 3 && key == "u64") return evaluation<i64, i64>(program, kernels.of_i64);
    if (values == 4 && key == "u32") return evaluation<float, float>(program, kernels.of_float);
    if (values == 5 && key == "u64") return evaluation<double, double>(program, kernels.of_double);
    throw std::invalid_argument("no expression of such keys");
}

}  // namespace headrace
