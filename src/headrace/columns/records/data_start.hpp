// What stands in front of the data of a text.
#pragma once

#include <string>

#include "core/cpu/isa.hpp"
#include "sources/source.hpp"
#include "structure/dfa.hpp"

namespace headrace {

struct BeforeData {
    u64 data = 0;     // where the first record of data begins; the end if there is none
    u64 leading = 0;  // records in front of it, such as a header
    u64 blank = 0;    // lines that are no records
    u64 comment = 0;
};

// Of the text from `begin` to `end`, where records that begin before `data_begin` are no data.
BeforeData find_data(const Source& source, const Dialect& dialect, Isa isa, u64 begin, u64 data_begin, u64 end);

// What is shown of the field that begins at byte `at`: its first bytes as they stand.
std::string shown_field(const Source& source, const Dialect& dialect, u64 at);

}  // namespace headrace
