// Declares the result of the kernels that find the records of listed faults (faulty_records.cu).
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

struct FaultSummary {
    u32 record_kinds, field_kinds;  // a bit for each kind of faults of records, and of fields: kind % 32
    u64 of_fields;                  // faults of fields
    u64 own;                        // records with faults of their own
    u64 records;                    // records with any fault
    u64 ungathered;                 // of these records, those whose texts are empty (gather_records.cu)
};
static_assert(sizeof(FaultSummary) == 40);

HR_END_NAMESPACE
