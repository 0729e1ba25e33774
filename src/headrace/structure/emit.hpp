// What an automaton says of a byte.
#pragma once

#include "core/cpu/portable.hpp"

namespace headrace {

enum Emit : u8 {
    EMIT_RECORD = 1,   // the record ends here
    EMIT_FIELD = 2,    // the field ends here, the record goes on
    EMIT_OPEN = 4,     // the first byte of a record
    EMIT_STRAY = 8,    // a quote where none may stand, or text after a closing quote
    EMIT_BLANK = 16,   // a blank line that is left out; with EMIT_RECORD, the record turned out to be one
    EMIT_COMMENT = 32  // with EMIT_RECORD: the record was a comment line
};

}  // namespace headrace
