// Evaluates a condition on blocks of rows. A block's values and truths stay in L1 and L2, and each step is one loop.
#pragma once
#include <vector>

#include "arrange/filter/cpu/row_block.hpp"
#include "arrange/filter/cpu/value_set.hpp"
#include "core/cpu/isa.hpp"

namespace headrace {

// A condition: its steps, kernels for its operations, and the set of each step of `is_in` in their order.
struct PreparedFilter {
    PreparedFilter(const FilterProgram& program, Isa isa);

    const FilterProgram& program;
    const ExpressionKernels& kernels;
    std::vector<ValueSet> sets;
};

class FilterEvaluation {
public:
    explicit FilterEvaluation(const PreparedFilter& prepared)
        : program_(prepared.program), kernels_(prepared.kernels), sets_(prepared.sets), stack_(program_.depth) {}

    // Returns the value of each row of a block. A condition's are bytes, 1 or 0.
    const StackSlot& values(RowBlock rows);

private:
    StackSlot& top() { return stack_[size_ - 1]; }
    void run(const FilterStep& step);
    void push_number(const FilterStep& step);
    void apply(const FilterStep& step, StackSlot& left, const StackSlot& right);
    void compare_texts(const FilterStep& step, StackSlot& left, const StackSlot& right);
    void compute(const FilterStep& step, StackSlot& left, const StackSlot& right);
    void convert(const FilterStep& step);
    void compare_with_text(bool is_equal, StackSlot& left, TextRef right);
    void find_among(const FilterStep& step);
    template <class Value>
    void find_values_among(const FilterStep& step, const ValueSet& values, CompareValues<Value> compare);

    const FilterProgram& program_;
    const ExpressionKernels& kernels_;
    const std::vector<ValueSet>& sets_;
    std::vector<StackSlot> stack_;
    RowBlock rows_{0, 0};
    u32 size_ = 0;       // values on the stack
    u32 set_count_ = 0;  // sets that the block has used
};

}  // namespace headrace
