// Computes the value of an expression for each row of columns in host memory.
#pragma once
#include "arrange/filter/filter.hpp"
#include "core/cpu/isa.hpp"

namespace headrace {

// Memory for a value and a byte, 1 if it is not null, of each row. Values have 1, 4 or 8 bytes; truths are bytes.
struct ComputedRows {
    u8* values;
    u8* valid;
    u32 width;
};

// Runs a program whose result is no constant and no text. A null row gets any value. Bytes moved per row: those of the
// program's columns, and the width of a value and 1.
void compute_rows(const FilterProgram& program, u64 rows, const ComputedRows& to, Isa isa, unsigned threads);

}  // namespace headrace
