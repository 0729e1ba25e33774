// What the first records of a text let one expect of all (estimate.py, which says why so much).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "structure/cpu/prefix.hpp"

namespace headrace {

// How much more than the mean is made ready: a part of it, as many deviations, an eighth of it at most, say; and some.
struct SpareRule {
    double least_part, most_part, deviations;
    u64 rows, string_bytes;
    usize least_sample, growth;  // bytes that are looked at first, and times as many where those tell too little
    u64 least_records;           // fewer of them tell nothing of deviations
};

struct Expected {
    u64 rows;
    std::vector<u64> strings;  // bytes of each column of strings
};

// Of a text of so many bytes, with strings at these places of its records; nothing where no record ends in its first
// bytes.
std::optional<Expected> expect(const Dialect& dialect, std::string_view beginning, u64 size,
                               const std::vector<usize>& strings, const SpareRule& rule);

}  // namespace headrace
