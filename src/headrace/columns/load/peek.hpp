// Reads the first records of a text as lists of fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cpu/isa.hpp"
#include "sources/source.hpp"
#include "structure/dfa.hpp"

namespace headrace {

struct PeekedRecord {
    std::uint64_t begin;
    std::vector<std::string> fields;
    // The byte where quoting is malformed: a stray quote, or the record's first byte if a quoted field never closes.
    std::optional<std::uint64_t> malformed;
    std::string text;                                         // raw
    std::optional<std::uint64_t> undecodable = std::nullopt;  // the first byte of a field that is not UTF-8
};

// Return the first `count` records from byte `begin` that are not comments.
std::vector<PeekedRecord> peek_records(const Source& source, const Dialect& dialect, Isa isa, std::uint64_t begin,
                                       usize count);

}  // namespace headrace
