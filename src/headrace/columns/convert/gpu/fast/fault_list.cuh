// Appends faults to the list of a conversion. Both conversion paths use this.
#pragma once

#include "columns/convert/gpu/convert_task.hpp"
#include "gpu/block/memory_access.cuh"

namespace headrace {

// Lists and counts a fault, unless its record is after the last one that is converted.
HR_FN void list_fault(const FaultOutput& output, const FieldFault& fault) {
    if (fault.record > output.last_record) return;
    ConvertTotals* const totals = output.totals;
    const u32 bit = fault.kind < 31 ? 1u << fault.kind : fault.kind == FAULT_DEFERRED ? RAISE_DEFERRED : 0;
    if ((output.raise_mask & bit) && ~fault.record > tile::load_relaxed(&totals->raised)) {
        atomicMax(&totals->raised, ~fault.record);
    }
    const u64 place = atomicAdd(&totals->faults, u64{1});
    if (place < output.capacity) output.faults[place] = fault;
}

}  // namespace headrace
