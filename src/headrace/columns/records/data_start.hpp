// Finds the begin of the data in a text, and counts what precedes it.
#pragma once

#include <string>

#include "core/cpu/isa.hpp"
#include "sources/source.hpp"
#include "structure/dfa.hpp"

namespace headrace {

struct BeforeData {
    u64 data = 0;     // begin of the first data record; the end if there is none
    u64 leading = 0;  // records before it, such as a header
    u64 blank = 0;    // blank lines
    u64 comment = 0;
};

// Search bytes `begin` to `end`. Records that begin before `data_begin` are not data.
BeforeData find_data(const Source& source, const Dialect& dialect, Isa isa, u64 begin, u64 data_begin, u64 end);

// Return the first bytes of the field at byte `at`, raw, for messages.
std::string shown_field(const Source& source, const Dialect& dialect, u64 at);

}  // namespace headrace
