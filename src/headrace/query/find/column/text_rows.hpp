// Defines the arguments of the kernels that assign hits to the rows of a column.
#pragma once
#include "arrange/gather/take.hpp"

namespace headrace {

// Texts whose bytes are searched as one text, from the begin of row 0 to the end of the last row.
struct TextRows {
    Texts texts;
    const u8* validity;  // bit `texts.first + row`; null if no text is null
    u64 count;           // rows
};

// Rows of a column, as numbers of texts.
struct RowCodes {
    const i32* codes;    // code of row r at `first + r`; null if row r has text r
    const u8* validity;  // bit `first + r`; null if no row is null
    u64 first;
    u64 count;  // rows
};

}  // namespace headrace
