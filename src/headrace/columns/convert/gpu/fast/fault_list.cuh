// Appends faults to the list of a conversion. Both conversion paths use this.
#pragma once

#include "columns/convert/gpu/convert_task.hpp"
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"

namespace headrace {

// Lists and counts a fault, unless its record is after the last one that is converted.
HR_FN void list_fault(const FaultOutput& output, const FieldFault& fault) {
    if (fault.record > output.last_record) return;
    ConvertTotals* const totals = output.totals;
    const u32 bit = fault.kind < 31 ? 1u << fault.kind : fault.kind == FAULT_DEFERRED ? RAISE_DEFERRED : 0;
    if ((output.raise_mask & bit) && ~fault.record > tile::load_relaxed(&totals->raised)) {
        atomicMax(&totals->raised, ~fault.record);
    }
    // The lanes that list a fault at a time take their places by one addition: there may be millions of faults.
    const u32 lanes = __activemask(), before = lanes & ((1u << tile::lane()) - 1);
    u64 first = 0;
    if (before == 0) first = atomicAdd(&totals->faults, static_cast<u64>(__popc(static_cast<int>(lanes))));
    first = __shfl_sync(lanes, first, __ffs(static_cast<int>(lanes)) - 1);
    const u64 place = first + static_cast<u64>(__popc(static_cast<int>(before)));
    if (place < output.capacity) output.faults[place] = fault;
}

}  // namespace headrace
