// Evaluates a condition on blocks of rows. A block's values and truths stay in L1 and L2, and each step is one loop.
#pragma once
#include <vector>

#include "arrange/filter/cpu/row_block.hpp"

namespace headrace {

class FilterEvaluation {
public:
    FilterEvaluation(const FilterProgram& program, const ExpressionKernels& kernels)
        : program_(program), kernels_(kernels), stack_(program.depth) {}

    // Returns the condition of each row of a block, 1 or 0.
    const u8* truths(RowBlock rows);

private:
    StackSlot& top() { return stack_[size_ - 1]; }
    void run(const FilterStep& step);
    void push_number(const FilterStep& step);
    void apply(const FilterStep& step, StackSlot& left, const StackSlot& right);
    void compare_texts(const FilterStep& step, StackSlot& left, const StackSlot& right);
    void compute(const FilterStep& step, StackSlot& left, const StackSlot& right);
    void convert(const FilterStep& step);
    void find_among(const FilterStep& step);
    template <class Value>
    void find_values_among(const u8* sorted, u64 count);

    const FilterProgram& program_;
    const ExpressionKernels& kernels_;
    std::vector<StackSlot> stack_;
    RowBlock rows_{0, 0};
    u32 size_ = 0;
};

}  // namespace headrace
