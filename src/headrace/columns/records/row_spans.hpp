// Locates the fields of a tile's records in its text.
#pragma once

#include "core/cpu/portable.hpp"
#include "structure/dfa.hpp"

namespace headrace {

// The rows of a tile. Each has `columns` fields: field c of row r ends at ends[r * columns + c].
struct TileRows {
    const u8* text;
    const u32* starts;  // first byte of each record
    const u32* ends;
    // Null if every record has the same number of fields. Then a field begins one past the end before it, and `ends`
    // are the positions of separators and line ends. Otherwise: the first byte of each field, and `ends` are one past
    // its last byte.
    const u32* field_starts;
    const u32* widths;  // number of fields in each row's record, or null if all have `columns`
    usize rows;
    usize columns;
    const Dialect* dialect;
    bool may_need_unquoting;  // some field may have quotes, escapes or initial spaces
    bool has_high_bytes;      // some byte is not ASCII
};

}  // namespace headrace
