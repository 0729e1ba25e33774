// Declares the kernels that convert the fields of one column of one tile on the CPU. They take raw pointers. Fields
// whose text is not a value of the column's type go to callbacks of the loader.
#pragma once

#include "columns/buffers/text_views.hpp"
#include "columns/plan/field_rules.hpp"
#include "columns/records/row_spans.hpp"
#include "columns/rules/column_type.hpp"
#include "columns/rules/fault.hpp"
#include "core/cpu/portable.hpp"

namespace headrace {

enum class Isa;

struct Misfits {
    void* context;
    // A value of the wrong shape or range. `at`: offset of the offending byte in the tile's text.
    void (*fault)(void* context, usize row, Fault fault, u32 at);
    // A field of an inferred column whose kind (rules/infer.hpp) the guess does not cover.
    void (*kind)(void* context, usize row, u8 kind, u32 at);
};

// One column of one tile. Values go to values[row_base + row]; nulls are marked in a bitmap of the tile.
struct ColumnJob {
    usize column;
    ColumnType type;
    bool inferred;
    bool raw;  // strings: the raw bytes of the field, with quotes
    u8 guess;  // Kind (rules/infer.hpp) that an inferred column is converted as
    const FieldRules* rules;
    void* values;      // fixed width: the values of the whole column
    bool is_valid;     // strings: no field has invalid UTF-8
    usize row_base;    // index of the tile's first row in them
    u64* bits;         // bool: the tile's values, zeroed
    u64* nulls;        // one bit per row, zeroed; bit set: null
    u8* string_bytes;  // strings: the tile's bytes; capacity: the tile's text (three times with replace_invalid), and
                       // 64 more
    u32* string_ends;  // strings: end of each row's bytes
    u8* scratch;       // capacity: one field (three times with replace_invalid)
    u8* number;        // capacity: one field; not used with `usual_forms`
    Misfits misfits;
};

struct ColumnCounts {
    usize nulls;
    usize string_bytes = 0;
    usize replaced = 0;  // strings in which invalid UTF-8 was replaced
};

// U+FFFD has three bytes and may replace a single invalid one.
constexpr usize REPLACEMENT_GROWTH = 3;

// Texts of a column's rows. Text i has bytes [starts[i * start_stride] + start_offset, ends[i * stride] - back).
struct TextSpans {
    const u8* bytes;
    const u32* starts;
    const u32* ends;
    usize start_stride, stride;
    u32 start_offset, back;

    // Return whether each text begins where the one before ends.
    bool are_joined() const { return ends == starts + 1 && start_stride == 1 && stride == 1 && start_offset == back; }
    u32 start(usize row) const { return starts[row * start_stride] + start_offset; }
    u32 size(usize row) const { return ends[row * stride] - back - start(row); }
};

struct ConvertKernels {
    ColumnCounts (*convert)(const TileRows& rows, const ColumnJob& job);
    // Writes a field's text, without initial spaces, quotes and escapes, to `to`: at most end - start bytes.
    usize (*field_text)(const TileRows& rows, u32 start, u32 end, u8* to, bool& quoted);
    // Returns whether n bytes are well-formed UTF-8.
    bool (*is_valid_utf8)(const u8* text, usize n);
    // Finds the texts, the nulls and the bytes (of views: of long texts) of a column whose texts need no change, and
    // returns true. Returns false for a column that has to be converted.
    bool (*find_texts)(const TileRows& rows, const ColumnJob& job, bool views, TextSpans& texts, ColumnCounts& counts);
    // Writes the views of texts [from, from + count), and copies long ones. Returns the end of the copies.
    u64 (*put_views)(const TextSpans& texts, usize from, usize count, ViewBytes bytes, View* to);
};

// Return the kernels compiled for an instruction set.
const ConvertKernels& convert_kernels(Isa isa);

}  // namespace headrace
