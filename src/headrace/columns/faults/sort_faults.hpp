// Sorts the faults that GPU kernels listed in the order of their tiles' completion.
#pragma once

#include <array>
#include <span>

#include "columns/convert/gpu/convert_task.hpp"

namespace headrace {

// The order of a record's own faults, by kind. The lowest counts.
using FaultRanks = std::array<u8, 256>;

// The kinds of faults that a list has: bit k % 32 for kind k.
struct ListedKinds {
    u32 of_records = 0, of_fields = 0;
    bool has_repeats = false;  // some record has several faults of its own
};

// Write faults to `sorted` by record. In a record, its own faults come first, by rank and byte, then those of its
// fields by column. Return their kinds. `records`: number of records.
ListedKinds sort_faults(std::span<const FieldFault> faults, std::span<FieldFault> sorted, const FaultRanks& ranks,
                        u64 records, unsigned threads);

}  // namespace headrace
