// A value of a column as text: everything but texts themselves.
#pragma once

#include "export/text/format_float.hpp"
#include "export/text/format_number.hpp"
#include "export/text/format_time.hpp"
#include "export/arrow/import_arrow.hpp"

namespace headrace {

// What may be overwritten behind a value's text.
constexpr usize VALUE_SLACK = 32;

// The longest text of a value, 0 for texts.
usize value_width(const ColumnFormat& format);

// Every byte that the text of a value may have.
std::string_view value_alphabet(const ColumnFormat& format);

// Writes the value of a row that is not null, and returns the end; null for a date that no text reads back as.
u8* write_value(const ColumnView& column, i64 row, u8* out);

}  // namespace headrace
