// Defines the program of a condition on rows, its columns, and how values are read and compared, for CPU and GPU.
//
// A condition such as (col("price") > 3) & col("city").is_null() is a program for a stack machine: column 0, number 3,
// compare more, column 1, is_null, conjoin. A value is null or valid. A result is null if an operand is null, except
// for & and |: false & null is false, true | null is true. A row is selected if the condition is true.
#pragma once
#include "arrange/gather/take.hpp"
#include "columns/rules/numbers/int128.hpp"
#include "core/expressions/expression_kernels.hpp"
#include "core/expressions/expression_values.hpp"

HR_BEGIN_NAMESPACE

// Type of values on the stack. Integers, dates and times are i64.
enum class FilterDomain : u32 { i64, u64, f32, f64, i128, text, truth };

// Numbered as OPERATIONS in arrange/filter/operands.py.
enum class FilterOperation : u32 {
    column,   // a: index of the column
    number,   // a, b: lower and upper word; of a text its place in the constants and its size
    convert,  // from domain a; b: factor of the conversion to i128
    compute,  // a: ExpressionOperation
    compare,  // a: ExpressionOperation
    conjoin,
    disjoin,
    differ,
    negate,
    is_null,
    is_in,     // a: place of the sorted values in the constants; b: their number
    contains,  // text and its part
    starts,
    ends
};

struct FilterStep {
    FilterOperation operation;
    FilterDomain domain;  // of the operands
    u64 a, b;
};
static_assert(sizeof(FilterStep) == 24);

enum class FilterKind : u32 { bits, integers, unsigned_integers, floats, decimals, texts, views, nulls };

// A column in Arrow's layout. `codes`: for a dictionary, the codes of the rows; values are then those of its texts.
struct FilterColumn {
    const void* values;
    const void* offsets;
    const u8* validity;  // bits, or null
    const u8* const* data;
    const u32* codes;
    u64 first;       // number of the first row in values, or in codes
    u64 first_text;  // number of the first text of a dictionary
    FilterKind kind;
    u32 width;  // bytes per value, or per offset
};
static_assert(sizeof(FilterColumn) == 64);

struct FilterProgram {
    const FilterStep* steps;
    const FilterColumn* columns;
    const u8* constants;
    u32 step_count;
    u32 depth;  // maximum depth of the stack
};

struct TextRef {
    const u8* bytes;
    u64 size;
};
static_assert(sizeof(TextRef) == 16);

HR_FN bool is_valid(const FilterColumn& column, u64 row) {
    if (column.kind == FilterKind::nulls) return false;
    return column.validity == nullptr || bit_at(column.validity, column.first + row);
}

// Returns the text of a valid row. A view begins with a size of 4 bytes. A short view then has its text, and a long one
// a prefix, the number of a buffer and an offset in it.
HR_FN TextRef text_of(const FilterColumn& column, u64 row) {
    const u64 text = column.codes == nullptr ? column.first + row
                                             : column.first_text + item_at_any(column.codes + column.first + row);
    if (column.kind == FilterKind::views) {
        const u8* const view = static_cast<const u8*>(column.values) + text * 16;
        const u32* const words = reinterpret_cast<const u32*>(view);
        const u32 size = item_at_any(words);
        if (size <= 12) return {view + 4, size};
        return {column.data[item_at_any(words + 2)] + item_at_any(words + 3), size};
    }
    const Texts texts{column.offsets, static_cast<const u8*>(column.values), 0, column.width, 0};
    const u64 begin = text_begin(texts, text);
    return {texts.bytes + begin, text_begin(texts, text + 1) - begin};
}

// Returns the value of a row of a kind without texts as an Item.
template <class Item>
HR_FN Item item_of(const FilterColumn& column, u64 row) {
    return item_at_any(static_cast<const Item*>(column.values) + column.first + row);
}

HR_FN bool bit_of(const FilterColumn& column, u64 row) {
    return bit_at(static_cast<const u8*>(column.values), column.first + row);
}

HR_FN int order_of(Int128 a, Int128 b) {
    if (a.high != b.high) return static_cast<i64>(a.high) < static_cast<i64>(b.high) ? -1 : 1;
    return a.low == b.low ? 0 : a.low < b.low ? -1 : 1;
}

// Returns whether a comparison of two values is true whose order is -1, 0 or 1.
HR_FN bool holds(ExpressionOperation comparison, int order) {
    if (comparison == ExpressionOperation::less) return order < 0;
    if (comparison == ExpressionOperation::at_most) return order <= 0;
    if (comparison == ExpressionOperation::more) return order > 0;
    if (comparison == ExpressionOperation::at_least) return order >= 0;
    return (order == 0) == (comparison == ExpressionOperation::equal);
}

// Returns the integer times a factor. Example: a day in microseconds is multiplied by 86'400'000'000.
HR_FN Int128 scaled(u64 word, bool is_signed, u64 factor) {
    const bool negative = is_signed && word >> 63 != 0;
    const Int128 product = multiply(negative ? 0 - word : word, factor);
    return negative ? negate(product) : product;
}

// Returns whether sorted values contain a value, without a branch that depends on them.
template <class Value>
HR_FN bool is_among(const Value* sorted, u64 count, Value value) {
    if (count == 0) return false;
    while (count > 1) {
        const u64 half = count / 2;
        sorted += sorted[half] <= value ? half : 0;
        count -= half;
    }
    return *sorted == value;
}

// A truth that may be null, in two bits: `value` is 0 if `valid` is.
struct Truth {
    u8 value;
    u8 valid;
};

// Returns a & b. A false operand decides alone: false & null is false.
HR_FN Truth conjunction(Truth a, Truth b) {
    const u32 decided = (a.valid & (a.value ^ 1u)) | (b.valid & (b.value ^ 1u));
    return {static_cast<u8>(a.value & b.value), static_cast<u8>((a.valid & b.valid) | decided)};
}

// Returns a | b. A true operand decides alone: true | null is true.
HR_FN Truth disjunction(Truth a, Truth b) {
    const u32 value = a.value | b.value;
    return {static_cast<u8>(value), static_cast<u8>((a.valid & b.valid) | value)};
}

HR_FN Truth difference(Truth a, Truth b) {
    const u32 valid = a.valid & b.valid;
    return {static_cast<u8>((a.value ^ b.value) & valid), static_cast<u8>(valid)};
}

HR_FN Truth negation(Truth a) { return {static_cast<u8>((a.value ^ 1u) & a.valid), a.valid}; }

// Returns the order of two texts, -1, 0 or 1: that of their bytes, then of their sizes. Here and below,
// compare(a, b, size) returns the order of `size` bytes as memcmp does.
template <class Compare>
HR_FN int order_of_texts(TextRef a, TextRef b, Compare compare) {
    const int order = compare(a.bytes, b.bytes, a.size < b.size ? a.size : b.size);
    if (order != 0) return order < 0 ? -1 : 1;
    return a.size == b.size ? 0 : a.size < b.size ? -1 : 1;
}

template <class Compare>
HR_FN bool starts_with(TextRef text, TextRef part, Compare compare) {
    return part.size <= text.size && compare(text.bytes, part.bytes, part.size) == 0;
}

template <class Compare>
HR_FN bool ends_with(TextRef text, TextRef part, Compare compare) {
    return part.size <= text.size && compare(text.bytes + (text.size - part.size), part.bytes, part.size) == 0;
}

// Returns whether sorted texts contain a text. `places`: for each text, its place in the constants and its size.
template <class Compare>
HR_FN bool is_text_among(const u64* places, u64 count, const u8* constants, TextRef text, Compare compare) {
    u64 begin = 0;
    while (count > 0) {
        const u64 half = count / 2, at = 2 * (begin + half);
        const int found = order_of_texts(TextRef{constants + places[at], places[at + 1]}, text, compare);
        if (found == 0) return true;
        if (found < 0) {
            begin += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return false;
}

HR_END_NAMESPACE
