// Evaluates conditions block by block: a block's values and truths stay in L1 and L2, and each step is one loop.
//
// A first pass over the columns writes a bit per row and counts; a second one expands the bits to row numbers.
#include <cstring>
#include <string_view>
#include <vector>

#include "arrange/filter/filter_host.hpp"
#include "core/cpu/cache_blocks.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const ExpressionKernels&(), expression_kernels)

namespace {

constexpr u64 block_rows = 1024;

// A value of the stack for each row of a block. Truths are bytes, 0 where a row is null.
struct StackSlot {
    alignas(64) u8 words[16 * block_rows];
    alignas(64) u8 valid[block_rows];  // 1 or 0
    const void* values;                // `words`, or memory of a column; null for a constant
    Int128 number;                     // the constant

    void hold_values() { values = words; }
    u8* truths() { return words; }
    template <class Value>
    Value* results() {
        return reinterpret_cast<Value*>(words);
    }
    template <class Value>
    Operand<Value> operand() const {
        Operand<Value> found{static_cast<const Value*>(values), Value{}};
        if (values == nullptr) std::memcpy(&found.number, &number, sizeof(Value));
        return found;
    }
    // Returns the value of a row that is computed one by one.
    template <class Value>
    Value at(u64 i) const {
        Value found;
        const void* const from =
            values == nullptr ? &number : static_cast<const void*>(static_cast<const Value*>(values) + i);
        std::memcpy(&found, from, sizeof(Value));
        return found;
    }
};

struct RowBlock {
    u64 begin;
    u64 count;
};

// Expands 8 bits to bytes of 0 or 1.
u64 bytes_of(u32 bits) {
    const u64 spread = bits * 0x0101010101010101ull & 0x8040201008040201ull;
    return (spread + 0x7F7F7F7F7F7F7F7Full) >> 7 & 0x0101010101010101ull;
}

// Packs bytes of 0 or 1 to 8 bits.
u8 bits_of(const u8* bytes) {
    u64 word;
    std::memcpy(&word, bytes, 8);
    return static_cast<u8>(word * 0x0102040810204080ull >> 56);
}

void expand_bits(const u8* bits, u64 first, u64 count, u8* to) {
    u64 i = 0;
    const u64 shift = first % 8;
    for (; i + 8 <= count; i += 8) {
        const u8* const at = bits + (first + i) / 8;
        const u32 both = shift == 0 ? at[0] : at[0] | u32{at[1]} << 8;
        const u64 bytes = bytes_of(both >> shift & 255);
        std::memcpy(to + i, &bytes, 8);
    }
    for (; i < count; ++i) to[i] = bit_at(bits, first + i);
}

template <class Item, class Value>
void widen(const FilterColumn& column, RowBlock rows, StackSlot& to) {
    if constexpr (sizeof(Item) == sizeof(Value)) {
        to.values = static_cast<const Item*>(column.values) + column.first + rows.begin;
    } else {
        Value* const results = to.results<Value>();
        for (u64 i = 0; i < rows.count; ++i) results[i] = static_cast<Value>(item_of<Item>(column, rows.begin + i));
    }
}

void read_values(const FilterColumn& column, RowBlock rows, StackSlot& to) {
    switch (column.kind) {
        case FilterKind::integers:
            if (column.width == 1) return widen<i8, i64>(column, rows, to);
            if (column.width == 2) return widen<i16, i64>(column, rows, to);
            if (column.width == 4) return widen<i32, i64>(column, rows, to);
            return widen<i64, i64>(column, rows, to);
        case FilterKind::unsigned_integers:
            if (column.width == 1) return widen<u8, u64>(column, rows, to);
            if (column.width == 2) return widen<u16, u64>(column, rows, to);
            if (column.width == 4) return widen<u32, u64>(column, rows, to);
            return widen<u64, u64>(column, rows, to);
        case FilterKind::floats:
            if (column.width == 4) return widen<float, float>(column, rows, to);
            return widen<double, double>(column, rows, to);
        case FilterKind::decimals:
            return widen<Int128, Int128>(column, rows, to);
        default:
            return;
    }
}

// Reads texts that lie one after the other. A null has the text between its offsets.
template <class Offset>
void read_adjacent_texts(const FilterColumn& column, RowBlock rows, TextRef* texts) {
    const Offset* const offsets = static_cast<const Offset*>(column.offsets) + column.first + rows.begin;
    const auto* const bytes = static_cast<const u8*>(column.values);
    u64 begin = item_at_any(offsets);
    for (u64 i = 0; i < rows.count; ++i) {
        const u64 end = item_at_any(offsets + i + 1);
        texts[i] = {bytes + begin, end - begin};
        begin = end;
    }
}

void read_texts(const FilterColumn& column, RowBlock rows, StackSlot& to) {
    auto* const texts = to.results<TextRef>();
    if (column.kind == FilterKind::texts && column.codes == nullptr) {
        if (column.width == 4) return read_adjacent_texts<u32>(column, rows, texts);
        return read_adjacent_texts<u64>(column, rows, texts);
    }
    for (u64 i = 0; i < rows.count; ++i) {
        texts[i] = to.valid[i] != 0 ? text_of(column, rows.begin + i) : TextRef{nullptr, 0};
    }
}

void read_column(const FilterColumn& column, RowBlock rows, StackSlot& to) {
    to.hold_values();
    if (column.kind == FilterKind::nulls) {
        std::memset(to.valid, 0, rows.count);
        std::memset(to.words, 0, sizeof(to.words));
        return;
    }
    if (column.validity == nullptr) {
        std::memset(to.valid, 1, rows.count);
    } else {
        expand_bits(column.validity, column.first + rows.begin, rows.count, to.valid);
    }
    if (column.kind == FilterKind::bits) {
        expand_bits(static_cast<const u8*>(column.values), column.first + rows.begin, rows.count, to.truths());
        for (u64 i = 0; i < rows.count; ++i) to.truths()[i] &= to.valid[i];
    } else if (column.kind == FilterKind::texts || column.kind == FilterKind::views) {
        read_texts(column, rows, to);
    } else {
        read_values(column, rows, to);
    }
}

std::string_view view_of(TextRef text) { return {reinterpret_cast<const char*>(text.bytes), text.size}; }

int order_of_texts(TextRef a, TextRef b) {
    const u64 size = std::min(a.size, b.size);
    const int order = size == 0 ? 0 : std::memcmp(a.bytes, b.bytes, size);
    if (order != 0) return order < 0 ? -1 : 1;
    return a.size == b.size ? 0 : a.size < b.size ? -1 : 1;
}

bool are_equal(TextRef a, TextRef b) {
    return a.size == b.size && (a.size == 0 || std::memcmp(a.bytes, b.bytes, a.size) == 0);
}

// Writes a function's truth for each row; a row that is null is false.
template <class Function>
void set_truths(StackSlot& to, u64 count, Function function) {
    u8 found[block_rows];
    for (u64 i = 0; i < count; ++i) found[i] = to.valid[i] != 0 && function(i);
    to.hold_values();
    std::memcpy(to.truths(), found, count);
}

class FilterEvaluation {
public:
    FilterEvaluation(const FilterProgram& program, const ExpressionKernels& kernels)
        : program_(program), kernels_(kernels), stack_(program.depth) {}

    // Returns the condition of each row of a block, 1 or 0.
    const u8* truths(RowBlock rows) {
        rows_ = rows;
        size_ = 0;
        for (u32 i = 0; i < program_.step_count; ++i) run(program_.steps[i]);
        return stack_[0].truths();
    }

private:
    StackSlot& top() { return stack_[size_ - 1]; }

    void run(const FilterStep& step) {
        switch (step.operation) {
            case FilterOperation::column:
                return read_column(program_.columns[step.a], rows_, stack_[size_++]);
            case FilterOperation::number:
                return push_number(step);
            case FilterOperation::convert:
                return convert(step);
            case FilterOperation::negate:
                for (u64 i = 0; i < rows_.count; ++i) top().truths()[i] = (top().truths()[i] ^ 1) & top().valid[i];
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

    void push_number(const FilterStep& step) {
        StackSlot& to = stack_[size_++];
        to.values = nullptr;
        to.number = {step.a, step.b};
        if (step.domain == FilterDomain::text) to.number.low += reinterpret_cast<u64>(program_.constants);
        std::memset(to.valid, 1, rows_.count);
    }

    void apply(const FilterStep& step, StackSlot& left, const StackSlot& right) {
        const u64 count = rows_.count;
        if (step.operation == FilterOperation::conjoin || step.operation == FilterOperation::disjoin) {
            return join(step.operation, left, right);
        }
        for (u64 i = 0; i < count; ++i) left.valid[i] &= right.valid[i];
        const auto comparison = static_cast<ExpressionOperation>(step.a);
        if (step.operation == FilterOperation::differ) {
            for (u64 i = 0; i < count; ++i) left.truths()[i] = (left.truths()[i] ^ right.words[i]) & left.valid[i];
        } else if (step.domain == FilterDomain::text) {
            compare_texts(step, left, right);
        } else if (step.domain == FilterDomain::i128) {
            set_truths(left, count,
                       [&](u64 i) { return holds(comparison, order_of(left.at<Int128>(i), right.at<Int128>(i))); });
        } else {
            compute(step, left, right);
        }
    }

    void join(FilterOperation operation, StackSlot& left, const StackSlot& right) {
        u8* const a = left.truths();
        const u8* const b = right.words;
        const u8 is_or = operation == FilterOperation::disjoin;
        for (u64 i = 0; i < rows_.count; ++i) {
            const u8 valid = left.valid[i], other = right.valid[i];
            const u8 both = is_or != 0 ? a[i] | b[i] : a[i] & b[i];
            // A valid operand decides alone: true for |, false for &.
            const u8 decided = (valid & (a[i] ^ is_or ^ 1)) | (other & (b[i] ^ is_or ^ 1));
            left.valid[i] = (valid & other) | decided;
            a[i] = both;
        }
    }

    // Writes function(text, other text) for each row.
    template <class Function>
    void each_text(StackSlot& left, const StackSlot& right, Function function) {
        if (right.values == nullptr) {
            const TextRef other = right.at<TextRef>(0);
            set_truths(left, rows_.count, [&](u64 i) { return function(left.at<TextRef>(i), other); });
        } else {
            set_truths(left, rows_.count, [&](u64 i) { return function(left.at<TextRef>(i), right.at<TextRef>(i)); });
        }
    }

    void compare_texts(const FilterStep& step, StackSlot& left, const StackSlot& right) {
        const auto comparison = static_cast<ExpressionOperation>(step.a);
        switch (step.operation) {
            case FilterOperation::contains:
                return each_text(left, right, [](TextRef a, TextRef b) {
                    return b.size == 0 || (a.size >= b.size && ::memmem(a.bytes, a.size, b.bytes, b.size) != nullptr);
                });
            case FilterOperation::starts:
                return each_text(left, right, [](TextRef a, TextRef b) { return view_of(a).starts_with(view_of(b)); });
            case FilterOperation::ends:
                return each_text(left, right, [](TextRef a, TextRef b) { return view_of(a).ends_with(view_of(b)); });
            default:
                break;
        }
        if (comparison == ExpressionOperation::equal) return each_text(left, right, are_equal);
        if (comparison == ExpressionOperation::unequal) {
            return each_text(left, right, [](TextRef a, TextRef b) { return !are_equal(a, b); });
        }
        each_text(left, right, [&](TextRef a, TextRef b) { return holds(comparison, order_of_texts(a, b)); });
    }

    void compute(const FilterStep& step, StackSlot& left, const StackSlot& right) {
        const ExpressionKernels& by = kernels_;
        if (step.domain == FilterDomain::i64) return compute_with<i64>(step, {by.of_i64, by.compare_i64}, left, right);
        if (step.domain == FilterDomain::u64) return compute_with<u64>(step, {by.of_u64, by.compare_u64}, left, right);
        if (step.domain == FilterDomain::f32) {
            return compute_with<float>(step, {by.of_float, by.compare_float}, left, right);
        }
        compute_with<double>(step, {by.of_double, by.compare_double}, left, right);
    }

    template <class Value>
    struct Kernels {
        ApplyOperation<Value> apply;
        CompareValues<Value> compare;
    };

    template <class Value>
    void compute_with(const FilterStep& step, Kernels<Value> kernels, StackSlot& left, const StackSlot& right) {
        const auto operation = static_cast<ExpressionOperation>(step.a);
        const Operand<Value> a = left.operand<Value>(), b = right.operand<Value>();
        const u64 count = rows_.count;
        left.hold_values();
        if (step.operation == FilterOperation::compute) {
            return kernels.apply(operation, a, b, left.results<Value>(), count);
        }
        u8 truths[block_rows];
        kernels.compare(operation, a, b, truths, count);
        for (u64 i = 0; i < count; ++i) left.truths()[i] = truths[i] & left.valid[i];
    }

    void convert(const FilterStep& step) {
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

    void find_among(const FilterStep& step) {
        const u8* const sorted = program_.constants + step.a;
        if (step.domain == FilterDomain::text) {
            set_truths(top(), rows_.count, [&](u64 i) {
                return is_text_among(reinterpret_cast<const u64*>(sorted), step.b, program_.constants,
                                     top().at<TextRef>(i), order_of_texts);
            });
        } else if (step.domain == FilterDomain::i64) {
            find_values_among<i64>(sorted, step.b);
        } else if (step.domain == FilterDomain::u64) {
            find_values_among<u64>(sorted, step.b);
        } else if (step.domain == FilterDomain::f32) {
            find_values_among<float>(sorted, step.b);
        } else {
            find_values_among<double>(sorted, step.b);
        }
    }

    template <class Value>
    void find_values_among(const u8* sorted, u64 count) {
        set_truths(top(), rows_.count,
                   [&](u64 i) { return is_among(reinterpret_cast<const Value*>(sorted), count, top().at<Value>(i)); });
    }

    const FilterProgram& program_;
    const ExpressionKernels& kernels_;
    std::vector<StackSlot> stack_;
    RowBlock rows_{0, 0};
    u32 size_ = 0;
};

// Writes a bit per row of a piece, and returns the number of rows that are selected.
u64 mark_rows(FilterEvaluation& evaluation, RowBlock piece, u8* bits) {
    u64 selected = 0;
    for (u64 at = 0; at < piece.count; at += block_rows) {
        const u64 count = std::min(block_rows, piece.count - at);
        const u8* const truths = evaluation.truths({piece.begin + at, count});
        u64 i = 0;
        for (; i + 8 <= count; i += 8) bits[(at + i) / 8] = bits_of(truths + i);
        if (i < count) {
            u32 last = 0;
            for (u64 k = i; k < count; ++k) last |= u32{truths[k]} << (k - i);
            bits[(at + i) / 8] = static_cast<u8>(last);
        }
        for (u64 k = 0; k < count; ++k) selected += truths[k];
    }
    return selected;
}

void number_rows(const u8* bits, RowBlock piece, u64* to) {
    for (u64 at = 0; at < piece.count; at += 64) {
        u64 word = 0;
        std::memcpy(&word, bits + at / 8, std::min<u64>(8, (piece.count - at + 7) / 8));
        for (; word != 0; word &= word - 1) *to++ = piece.begin + at + static_cast<u64>(trailing_zeros(word));
    }
}

}  // namespace

u64 filter_rows(const FilterProgram& program, u64 rows, const std::function<u64*(u64)>& allocate, Isa isa,
                unsigned threads) {
    const ExpressionKernels& kernels = expression_kernels_for(isa)();
    const Pieces pieces(rows, sizeof(u32));
    std::vector<u8> bits(rows / 8 + 1);
    std::vector<u64> begins(pieces.number() + 1);
    const auto begin = [&] { return FilterEvaluation(program, kernels); };
    const auto mark = [&](FilterEvaluation& evaluation, u64 piece) {
        const RowBlock part{pieces.begin(piece), pieces.size(piece)};
        begins[piece + 1] = mark_rows(evaluation, part, bits.data() + part.begin / 8);
    };
    for_each_piece(pieces.number(), threads, begin, mark, [](FilterEvaluation&) {});
    for (u64 piece = 0; piece < pieces.number(); ++piece) begins[piece + 1] += begins[piece];
    const u64 selected = begins.back();
    if (selected == rows) return selected;
    u64* const numbers = allocate(selected);
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const RowBlock part{pieces.begin(piece), pieces.size(piece)};
        number_rows(bits.data() + part.begin / 8, part, numbers + begins[piece]);
    });
    return selected;
}

}  // namespace headrace
