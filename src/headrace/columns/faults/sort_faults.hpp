// Sorts the faults that GPU kernels listed in the order of their tiles' completion.
#pragma once

#include <array>
#include <span>

#include "columns/convert/gpu/convert_task.hpp"

namespace headrace {

// The order of a record's own faults, by kind. The lowest counts.
using FaultRanks = std::array<u8, 256>;

// Write faults to `sorted` by record. In a record, its own faults come first, by rank and byte, then those of its
// fields by column. `records`: number of records.
void sort_faults(std::span<const FieldFault> faults, std::span<FieldFault> sorted, const FaultRanks& ranks, u64 records,
                 unsigned threads);

}  // namespace headrace
