// Estimates the rows and string bytes of a text from its first records. columns/load/gpu/estimate.py gives the reasons
// for the parameters.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "structure/cpu/prefix.hpp"

namespace headrace {

// The spare that is added to the mean: a part of it between `min_part` and `max_part`, according to the deviations,
// and a constant.
struct SpareRule {
    double min_part, max_part;
    double deviations;  // number of standard deviations
    u64 rows, string_bytes;
    usize min_sample, growth;  // bytes of the first sample, and the factor if it is too small
    u64 min_records;           // minimum number of records: deviations of fewer are unreliable
};

struct SizeEstimate {
    u64 rows;
    std::vector<u64> strings;  // bytes of each column of strings
};

// Estimate the sizes of a text of `size` bytes that begins with `prefix`. `strings`: positions of columns of strings in
// a record. Return nothing if no record ends in the prefix.
std::optional<SizeEstimate> estimate_sizes(const Dialect& dialect, std::string_view prefix, u64 size,
                                           const std::vector<usize>& strings, const SpareRule& rule);

// Multiply sizes by `times`, add a spare, and round up by a 64th at most, so that texts of about one size have equal
// ones. None exceeds `limit`.
std::vector<u64> scale_sizes(std::vector<u64> sizes, double times, u64 spare, u64 limit);

}  // namespace headrace
