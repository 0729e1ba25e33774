// Defines the stack of a condition's evaluation on a block of rows.
#pragma once
#include <cstring>

#include "arrange/filter/filter.hpp"
#include "core/expressions/expression_kernels.hpp"

namespace headrace {

inline constexpr u64 block_rows = 1024;

// A value of the stack for each row of a block. Truths are bytes, 0 where a row is null.
struct StackSlot {
    alignas(64) u8 words[16 * block_rows];
    alignas(64) u8 valid[block_rows];  // 1 or 0
    const void* values;                // `words`, or memory of a column; null for a constant
    Int128 number;                     // the constant
    u64 readable_texts;                // number of the first texts of which 8 bytes can be read, whatever their sizes

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

// Pushes the values of a column: copies or expands them, or points to the column's memory.
void read_column(const FilterColumn& column, RowBlock rows, StackSlot& to);

}  // namespace headrace
