// Evaluates conditions on rows: the GPU counterpart of arrange/filter/cpu. A thread runs the program of
// filter.hpp for a row, on a stack of its own. All threads of a warp take the same step, so they do not diverge.
//
// Bytes moved per row: the values of the program's columns and a bit.
#include "arrange/bucket/rules.hpp"
#include "arrange/filter/filter.hpp"
#include "arrange/gather/selected_rows.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

// A value in two words; a text is its address and size.
struct StackValue {
    u64 low;
    u64 high;
    bool valid;
};

// Order of texts' bytes.
struct CompareBytes {
    HR_MEMBER int operator()(const u8* a, const u8* b, u64 size) const {
        for (u64 i = 0; i < size; ++i) {
            if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
        }
        return 0;
    }
};

static __device__ __noinline__ bool has_part(FilterOperation operation, TextRef text, TextRef part) {
    const CompareBytes compare;
    if (operation == FilterOperation::starts) return starts_with(text, part, compare);
    if (operation == FilterOperation::ends) return ends_with(text, part, compare);
    for (; part.size <= text.size; ++text.bytes, --text.size) {
        if (starts_with(text, part, compare)) return true;
    }
    return false;
}

static __device__ __noinline__ StackValue read_column(const FilterColumn& column, u64 row) {
    StackValue found{0, 0, is_valid(column, row)};
    if (!found.valid) return found;
    switch (column.kind) {
        case FilterKind::bits:
            found.low = bit_of(column, row);
            break;
        case FilterKind::integers:
            found.low = column.width == 1   ? static_cast<u64>(static_cast<i64>(item_of<i8>(column, row)))
                        : column.width == 2 ? static_cast<u64>(static_cast<i64>(item_of<i16>(column, row)))
                        : column.width == 4 ? static_cast<u64>(static_cast<i64>(item_of<i32>(column, row)))
                                            : item_of<u64>(column, row);
            break;
        case FilterKind::unsigned_integers:
        case FilterKind::floats:
            found.low = column.width == 1   ? item_of<u8>(column, row)
                        : column.width == 2 ? item_of<u16>(column, row)
                        : column.width == 4 ? item_of<u32>(column, row)
                                            : item_of<u64>(column, row);
            break;
        case FilterKind::decimals: {
            const Int128 value = item_of<Int128>(column, row);
            found.low = value.low;
            found.high = value.high;
            break;
        }
        default: {
            const TextRef text = text_of(column, row);
            found.low = reinterpret_cast<u64>(text.bytes);
            found.high = text.size;
        }
    }
    return found;
}

HR_FN TextRef text_in(const StackValue& value) { return {reinterpret_cast<const u8*>(value.low), value.high}; }

HR_FN Truth truth_in(const StackValue& value) { return {static_cast<u8>(value.low), static_cast<u8>(value.valid)}; }

HR_FN void set_truth(StackValue& to, Truth truth) {
    to.low = truth.value;
    to.valid = truth.valid != 0;
}

template <class Value>
HR_FN Value value_in(u64 word) {
    if constexpr (sizeof(Value) == 4) {
        return bits_as<Value>(static_cast<u32>(word));
    } else if constexpr (Modular<Value>::whole) {
        return static_cast<Value>(word);
    } else {
        return bits_as<Value>(word);
    }
}

template <class Value>
HR_FN u64 word_of(Value value) {
    if constexpr (Modular<Value>::whole) {
        return static_cast<u64>(value);
    } else {
        return BitsAs<Value>::of(value);
    }
}

// Returns the word of a sum and the like, or 1 or 0 for a comparison.
template <class Value>
HR_FN u64 computed(ExpressionOperation operation, u64 left, u64 right) {
    const Value a = value_in<Value>(left), b = value_in<Value>(right);
    switch (operation) {
        case ExpressionOperation::add:
            return word_of(added(a, b));
        case ExpressionOperation::subtract:
            return word_of(subtracted(a, b));
        case ExpressionOperation::multiply:
            return word_of(multiplied(a, b));
        case ExpressionOperation::less:
            return a < b;
        case ExpressionOperation::at_most:
            return a <= b;
        case ExpressionOperation::more:
            return a > b;
        case ExpressionOperation::at_least:
            return a >= b;
        case ExpressionOperation::equal:
            return a == b;
        case ExpressionOperation::unequal:
            return a != b;
        default:
            break;
    }
    if constexpr (Modular<Value>::whole) {
        return word_of(operation == ExpressionOperation::quotient ? quotient_of(a, b) : remainder_of(a, b));
    } else {
        return word_of(a / b);
    }
}

static __device__ __noinline__ u64 compute(const FilterStep& step, u64 left, u64 right) {
    const auto operation = static_cast<ExpressionOperation>(step.a);
    if (step.domain == FilterDomain::i64) return computed<i64>(operation, left, right);
    if (step.domain == FilterDomain::u64) return computed<u64>(operation, left, right);
    if (step.domain == FilterDomain::f32) return computed<float>(operation, left, right);
    return computed<double>(operation, left, right);
}

HR_FN void convert(const FilterStep& step, StackValue& value) {
    const auto from = static_cast<FilterDomain>(step.a);
    if (step.domain == FilterDomain::i128) {
        const Int128 found = scaled(value.low, from == FilterDomain::i64, step.b);
        value.low = found.low;
        value.high = found.high;
    } else if (from == FilterDomain::f32) {
        value.low = word_of(static_cast<double>(value_in<float>(value.low)));
    } else if (from == FilterDomain::i64) {
        value.low = word_of(static_cast<double>(static_cast<i64>(value.low)));
    } else {
        value.low = word_of(static_cast<double>(value.low));
    }
}

template <class Value>
HR_FN bool is_value_among(const u8* sorted, u64 count, u64 word) {
    return is_among(reinterpret_cast<const Value*>(sorted), count, value_in<Value>(word));
}

static __device__ __noinline__ bool is_listed(const FilterStep& step, const u8* constants, const StackValue& value) {
    const u8* const sorted = constants + step.a;
    if (step.domain == FilterDomain::text) {
        return is_text_among(reinterpret_cast<const u64*>(sorted), step.b, constants, text_in(value), CompareBytes{});
    }
    if (step.domain == FilterDomain::i64) return is_value_among<i64>(sorted, step.b, value.low);
    if (step.domain == FilterDomain::u64) return is_value_among<u64>(sorted, step.b, value.low);
    if (step.domain == FilterDomain::f32) return is_value_among<float>(sorted, step.b, value.low);
    return is_value_among<double>(sorted, step.b, value.low);
}

// Writes a comparison, a sum, & or | to the left operand. Truths are 0 where a row is null.
HR_FN void apply(const FilterStep& step, StackValue& left, const StackValue& right) {
    const bool both = left.valid && right.valid;
    const auto comparison = static_cast<ExpressionOperation>(step.a);
    switch (step.operation) {
        case FilterOperation::conjoin:
            return set_truth(left, conjunction(truth_in(left), truth_in(right)));
        case FilterOperation::disjoin:
            return set_truth(left, disjunction(truth_in(left), truth_in(right)));
        case FilterOperation::differ:
            return set_truth(left, difference(truth_in(left), truth_in(right)));
        case FilterOperation::compute:
            left.low = compute(step, left.low, right.low);
            break;
        case FilterOperation::compare:
            if (!both) {
                left.low = 0;
            } else if (step.domain == FilterDomain::text) {
                left.low = holds(comparison, order_of_texts(text_in(left), text_in(right), CompareBytes{}));
            } else if (step.domain == FilterDomain::i128) {
                left.low = holds(comparison, order_of(Int128{left.low, left.high}, Int128{right.low, right.high}));
            } else {
                left.low = compute(step, left.low, right.low);
            }
            break;
        default:
            left.low = both && has_part(step.operation, text_in(left), text_in(right));
    }
    left.valid = both;
}

HR_FN bool is_selected(const FilterProgram& program, u64 row) {
    StackValue stack[HR_DEPTH];
    u32 size = 0;
    for (u32 i = 0; i < program.step_count; ++i) {
        const FilterStep step = program.steps[i];
        switch (step.operation) {
            case FilterOperation::column:
                stack[size++] = read_column(program.columns[step.a], row);
                break;
            case FilterOperation::number: {
                const bool is_text = step.domain == FilterDomain::text;
                stack[size++] = {step.a + (is_text ? reinterpret_cast<u64>(program.constants) : 0), step.b, true};
                break;
            }
            case FilterOperation::convert:
                convert(step, stack[size - 1]);
                break;
            case FilterOperation::negate:
                set_truth(stack[size - 1], negation(truth_in(stack[size - 1])));
                break;
            case FilterOperation::is_null:
                stack[size - 1] = {!stack[size - 1].valid, 0, true};
                break;
            case FilterOperation::is_in:
                stack[size - 1].low = stack[size - 1].valid && is_listed(step, program.constants, stack[size - 1]);
                break;
            default:
                --size;
                apply(step, stack[size - 1], stack[size]);
        }
    }
    return stack[0].low != 0;
}

// Writes a bit per row, and counts[block]: the rows of a block that are selected.
extern "C" __global__ void __launch_bounds__(threads)
    mark_rows(FilterProgram program, u64 rows, u32* bits, u64* counts) {
    selected::mark(rows, bits, counts, [&](u64 row) { return is_selected(program, row); });
}
