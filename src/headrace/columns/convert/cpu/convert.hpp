// Converting the fields of one column of one tile: the kernels' interface. A kernel knows raw pointers alone; the
// misfits, fields whose text is not a value of the column's type, go to a sink that load.cpp supplies.
#pragma once

#include "columns/records/row_spans.hpp"
#include "columns/rules/column_type.hpp"
#include "columns/rules/fault.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

enum class Isa;

struct Misfits {
    void* context;
    // A value of the wrong shape or range; `at` is the byte in the tile's text.
    void (*fault)(void* context, usize row, Fault fault, u32 at);
    // A field of an inferred column that the guess does not hold; `kind` is rules/infer.hpp's.
    void (*kind)(void* context, usize row, u8 kind, u32 at);
};

// One column of one tile. Values go to values[row_base + row]; nulls are marked in a bitmap of the tile's own.
struct ColumnJob {
    usize column;
    ColumnType type;
    bool inferred;
    bool raw;  // strings: the bytes as they stand, quotes included
    u8 guess;  // rules/infer.hpp: the Kind that an inferred column is taken for
    const FieldRules* rules;
    void* values;      // fixed-width types: the whole column's values
    usize row_base;    // row 0's place in them
    u64* bits;         // bool: the tile's values, zeroed
    u64* nulls;        // bit set: null; zeroed, one bit a row
    u8* string_bytes;  // strings: the tile's bytes; room for the tile's text (three times with replace_invalid), and 64
                       // more
    u32* string_ends;  // strings: end of each row's bytes
    u8* scratch;       // room for one field (three times with replace_invalid)
    u8* number;        // room for one field, unless `usual_forms`
    Misfits misfits;
};

struct ColumnCounts {
    usize nulls;
    usize string_bytes;
    usize replaced;  // strings that were mended
};

// One byte that is no UTF-8 becomes three.
constexpr usize REPLACEMENT_GROWTH = 3;

struct ConvertKernels {
    ColumnCounts (*convert)(const TileRows& rows, const ColumnJob& job);
    // A field's text: spaces, quotes and escapes undone. Writes at most end - start bytes to `to`.
    usize (*field_text)(const TileRows& rows, u32 start, u32 end, u8* to, bool& quoted);
};

// Return the kernels compiled for an instruction set.
const ConvertKernels& convert_kernels(Isa isa);

}  // namespace headrace
