// Runs the steps of a condition, each as a loop over a block of rows.
#include "arrange/filter/cpu/evaluation.hpp"

#include <cstring>

namespace headrace {

HR_FOR_EACH_ISA(const ExpressionKernels&(), expression_kernels)

namespace {

// Order of texts' bytes.
constexpr auto compare_bytes = [](const u8* a, const u8* b, u64 size) {
    return size == 0 ? 0 : std::memcmp(a, b, size);
};

bool are_equal(TextRef a, TextRef b) { return a.size == b.size && compare_bytes(a.bytes, b.bytes, a.size) == 0; }

bool has_part(TextRef text, TextRef part) {
    return part.size == 0 ||
           (text.size >= part.size && ::memmem(text.bytes, text.size, part.bytes, part.size) != nullptr);
}

// Writes a function's truth for each row; a row that is null is false.
template <class Function>
void set_truths(StackSlot& to, u64 count, Function function) {
    u8 found[block_rows];
    for (u64 i = 0; i < count; ++i) found[i] = to.valid[i] != 0 && function(i);
    to.hold_values();
    std::memcpy(to.truths(), found, count);
}

// Writes function(text, other text) for each row.
template <class Function>
void set_truths_of_texts(StackSlot& left, const StackSlot& right, u64 count, Function function) {
    if (right.values == nullptr) {
        const TextRef other = right.at<TextRef>(0);
        set_truths(left, count, [&](u64 i) { return function(left.at<TextRef>(i), other); });
    } else {
        set_truths(left, count, [&](u64 i) { return function(left.at<TextRef>(i), right.at<TextRef>(i)); });
    }
}

// Writes function(truth, other truth) for each row.
template <class Function>
void combine_truths(StackSlot& left, const StackSlot& right, u64 count, Function function) {
    for (u64 i = 0; i < count; ++i) {
        const Truth found = function(Truth{left.words[i], left.valid[i]}, Truth{right.words[i], right.valid[i]});
        left.words[i] = found.value;
        left.valid[i] = found.valid;
    }
}

constexpr u64 max_compared = 8;  // values of `is_in` for which comparisons are faster than a hash set

template <class Value>
struct ValueKernels {
    ApplyOperation<Value> apply;
    CompareValues<Value> compare;
};

template <class Value>
void compute_with(const FilterStep& step, u64 count, ValueKernels<Value> kernels, StackSlot& left,
                  const StackSlot& right) {
    const auto operation = static_cast<ExpressionOperation>(step.a);
    const Operand<Value> a = left.operand<Value>(), b = right.operand<Value>();
    left.hold_values();
    if (step.operation == FilterOperation::compute) {
        return kernels.apply(operation, a, b, left.results<Value>(), count);
    }
    u8 truths[block_rows];
    kernels.compare(operation, a, b, truths, count);
    for (u64 i = 0; i < count; ++i) left.truths()[i] = truths[i] & left.valid[i];
}

}  // namespace

PreparedFilter::PreparedFilter(const FilterProgram& of, Isa isa) : program(of), kernels(expression_kernels_for(isa)()) {
    for (u32 i = 0; i < program.step_count; ++i) {
        const FilterStep& step = program.steps[i];
        if (step.operation == FilterOperation::is_in) sets.emplace_back(step, program.constants);
    }
}

const StackSlot& FilterEvaluation::values(RowBlock rows) {
    rows_ = rows;
    size_ = set_count_ = 0;
    for (u32 i = 0; i < program_.step_count; ++i) run(program_.steps[i]);
    return stack_[0];
}

void FilterEvaluation::run(const FilterStep& step) {
    switch (step.operation) {
        case FilterOperation::column:
            return read_column(program_.columns[step.a], rows_, stack_[size_++]);
        case FilterOperation::number:
            return push_number(step);
        case FilterOperation::convert:
            return convert(step);
        case FilterOperation::negate:
            for (u64 i = 0; i < rows_.count; ++i) top().words[i] = negation({top().words[i], top().valid[i]}).value;
            return;
        case FilterOperation::is_null:
            for (u64 i = 0; i < rows_.count; ++i) top().truths()[i] = top().valid[i] ^ 1;
            top().hold_values();
            std::memset(top().valid, 1, rows_.count);
            return;
        case FilterOperation::is_in:
            return find_among(step);
        default: {
            const StackSlot& right = stack_[--size_];
            return apply(step, top(), right);
        }
    }
}

void FilterEvaluation::push_number(const FilterStep& step) {
    StackSlot& to = stack_[size_++];
    to.values = nullptr;
    to.number = {step.a, step.b};
    to.readable_texts = 0;
    if (step.domain == FilterDomain::text) to.number.low += reinterpret_cast<u64>(program_.constants);
    std::memset(to.valid, 1, rows_.count);
}

void FilterEvaluation::apply(const FilterStep& step, StackSlot& left, const StackSlot& right) {
    const u64 count = rows_.count;
    if (step.operation == FilterOperation::conjoin) return combine_truths(left, right, count, conjunction);
    if (step.operation == FilterOperation::disjoin) return combine_truths(left, right, count, disjunction);
    if (step.operation == FilterOperation::differ) return combine_truths(left, right, count, difference);
    for (u64 i = 0; i < count; ++i) left.valid[i] &= right.valid[i];
    if (step.domain == FilterDomain::text) return compare_texts(step, left, right);
    if (step.domain == FilterDomain::i128) {
        const auto comparison = static_cast<ExpressionOperation>(step.a);
        return set_truths(left, count,
                          [&](u64 i) { return holds(comparison, order_of(left.at<Int128>(i), right.at<Int128>(i))); });
    }
    compute(step, left, right);
}

void FilterEvaluation::compare_texts(const FilterStep& step, StackSlot& left, const StackSlot& right) {
    const auto set_each = [&](auto function) { set_truths_of_texts(left, right, rows_.count, function); };
    if (step.operation == FilterOperation::contains) return set_each(has_part);
    if (step.operation == FilterOperation::starts) {
        return set_each([](TextRef text, TextRef part) { return starts_with(text, part, compare_bytes); });
    }
    if (step.operation == FilterOperation::ends) {
        return set_each([](TextRef text, TextRef part) { return ends_with(text, part, compare_bytes); });
    }
    const auto comparison = static_cast<ExpressionOperation>(step.a);
    const bool is_equal = comparison == ExpressionOperation::equal;
    if (right.values == nullptr && (is_equal || comparison == ExpressionOperation::unequal)) {
        return compare_with_text(is_equal, left, right.at<TextRef>(0));
    }
    if (is_equal) return set_each(are_equal);
    if (comparison == ExpressionOperation::unequal) {
        return set_each([](TextRef a, TextRef b) { return !are_equal(a, b); });
    }
    set_each([&](TextRef a, TextRef b) { return holds(comparison, order_of_texts(a, b, compare_bytes)); });
}

// A first loop compares sizes and prefixes without branches; the rest of a text is read if both are equal.
void FilterEvaluation::compare_with_text(bool is_equal, StackSlot& left, TextRef right) {
    const u64 prefix = prefix_of(right, false), mask = prefix_mask(right.size), count = rows_.count;
    const TextRef* const texts = left.operand<TextRef>().values;
    u8 found[block_rows];
    const u64 readable = left.readable_texts;
    u64 i = 0;
    for (; i < readable; ++i) {
        u64 word;
        std::memcpy(&word, texts[i].bytes, 8);
        found[i] = (texts[i].size == right.size) & ((word & mask) == prefix);
    }
    for (; i < count; ++i) found[i] = texts[i].size == right.size && prefix_of(texts[i], false) == prefix;
    if (right.size > 8) {
        for (u64 i = 0; i < count; ++i) {
            if (found[i] != 0) found[i] = has_same_rest(left.at<TextRef>(i), right);
        }
    }
    const u8 flip = is_equal ? 0 : 1;
    left.hold_values();
    for (u64 i = 0; i < count; ++i) left.words[i] = (found[i] ^ flip) & left.valid[i];
}

void FilterEvaluation::compute(const FilterStep& step, StackSlot& left, const StackSlot& right) {
    const ExpressionKernels& by = kernels_;
    const u64 count = rows_.count;
    if (step.domain == FilterDomain::i64) {
        compute_with<i64>(step, count, {by.of_i64, by.compare_i64}, left, right);
    } else if (step.domain == FilterDomain::u64) {
        compute_with<u64>(step, count, {by.of_u64, by.compare_u64}, left, right);
    } else if (step.domain == FilterDomain::f32) {
        compute_with<float>(step, count, {by.of_float, by.compare_float}, left, right);
    } else {
        compute_with<double>(step, count, {by.of_double, by.compare_double}, left, right);
    }
}

void FilterEvaluation::convert(const FilterStep& step) {
    StackSlot& slot = top();
    const auto from = static_cast<FilterDomain>(step.a);
    const u64 count = rows_.count;
    if (step.domain == FilterDomain::i128) {
        for (u64 i = count; i-- > 0;) {
            slot.results<Int128>()[i] = scaled(slot.at<u64>(i), from == FilterDomain::i64, step.b);
        }
    } else if (from == FilterDomain::f32) {
        for (u64 i = count; i-- > 0;) slot.results<double>()[i] = static_cast<double>(slot.at<float>(i));
    } else if (from == FilterDomain::i64) {
        for (u64 i = 0; i < count; ++i) slot.results<double>()[i] = static_cast<double>(slot.at<i64>(i));
    } else {
        for (u64 i = 0; i < count; ++i) slot.results<double>()[i] = static_cast<double>(slot.at<u64>(i));
    }
    slot.hold_values();
}

void FilterEvaluation::find_among(const FilterStep& step) {
    const ValueSet& values = sets_[set_count_++];
    if (step.domain == FilterDomain::text) {
        const TextRef* const texts = top().operand<TextRef>().values;
        const u64 readable = top().readable_texts;
        set_truths(top(), rows_.count, [texts, readable, lookup = values.lookup()](u64 i) {
            return lookup.has(texts[i], prefix_of(texts[i], i < readable));
        });
    } else if (step.domain == FilterDomain::i64) {
        find_values_among<i64>(step, values, kernels_.compare_i64);
    } else if (step.domain == FilterDomain::u64) {
        find_values_among<u64>(step, values, kernels_.compare_u64);
    } else if (step.domain == FilterDomain::f32) {
        find_values_among<float>(step, values, kernels_.compare_float);
    } else {
        find_values_among<double>(step, values, kernels_.compare_double);
    }
}

// A few values are compared one by one, in vectors.
template <class Value>
void FilterEvaluation::find_values_among(const FilterStep& step, const ValueSet& values, CompareValues<Value> compare) {
    StackSlot& slot = top();
    const Operand<Value> read = slot.operand<Value>();
    if (step.b > max_compared) {
        return set_truths(slot, rows_.count,
                          [read, lookup = values.lookup()](u64 i) { return lookup.has(read.values[i]); });
    }
    alignas(64) u8 found[block_rows] = {}, equal[block_rows] = {};
    for (u64 k = 0; k < step.b; ++k) {
        const Value value = item_at_any(reinterpret_cast<const Value*>(program_.constants + step.a) + k);
        compare(ExpressionOperation::equal, read, {nullptr, value}, equal, rows_.count);
        for (u64 i = 0; i < block_rows; ++i) found[i] |= equal[i];
    }
    slot.hold_values();
    for (u64 i = 0; i < block_rows; ++i) slot.words[i] = found[i] & slot.valid[i];
}

}  // namespace headrace
