// Declares what a byte means in the state that reads it: the cells of an automaton's emit table.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

enum Emit : u8 {
    EMIT_RECORD = 1,    // the record ends here
    EMIT_FIELD = 2,     // the field ends here and the record continues
    EMIT_OPEN = 4,      // the first byte of a record
    EMIT_STRAY = 8,     // a malformed quote, or text after a closing quote
    EMIT_BLANK = 16,    // a blank line is skipped; with EMIT_RECORD, the record that had begun is one
    EMIT_COMMENT = 32,  // with EMIT_RECORD: the record was a comment line
    EMIT_BREAK = 64     // in tables of kernels alone: LF or CR inside a field
};

}  // namespace headrace
