// Formats a value of a column as text; strings are handled in rows_text.hpp.
#pragma once

#include "export/arrow/import_arrow.hpp"
#include "export/text/format_float.hpp"
#include "export/text/format_number.hpp"
#include "export/text/format_time.hpp"

namespace headrace {

// Bytes that may be overwritten after a value's text.
constexpr usize VALUE_SLACK = 32;

// Returns the size of a value's longest text, 0 for strings.
usize value_width(const ColumnFormat& format);

// Returns all bytes that the text of a value may contain.
std::string_view value_alphabet(const ColumnFormat& format);

// A value of a column to be written. `plain_nan`: every NaN is written as NaN, without its sign and payload.
struct ColumnCell {
    const ColumnView& column;
    i64 row;
    bool plain_nan;

    template <class T>
    T value() const {
        return column.value<T>(row);
    }
};

// Writes a value that is not null, and returns the end. It returns null for a date or time that no text represents.
u8* write_value(const ColumnCell& cell, u8* out);

}  // namespace headrace
