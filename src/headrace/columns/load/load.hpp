// Declares the load of a source on the CPU: one pass over the text, tile by tile, on several threads.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "columns/buffers/load_result.hpp"
#include "columns/plan/load_plan.hpp"
#include "sources/source.hpp"
#include "structure/cpu/record_filter.hpp"
#include "structure/dfa.hpp"

namespace headrace {

struct LoadShare;

// The handles of one call, which a plan does not have.
struct LoadRun {
    LoadShare* share = nullptr;  // state shared with the loads of other files (columns/load/shared_load.hpp)
    // Called on the calling thread about every 0.1 s; may throw. Its arguments are the bytes of text that this pass has
    // converted, and those of the whole range. The first is 0 while types are sampled or strings measured.
    std::function<void(std::uint64_t, std::uint64_t)> poll;
    // Numbers of the data records that become rows, from 0 and ascending; none: all records do. Another load has found
    // the faults of whole records.
    std::optional<std::vector<u64>> chosen = std::nullopt;
    bool wants_spans = false;              // whether the result has the bytes of each row's record
    const RecordFilter* filter = nullptr;  // chooses the data records that are converted; null for all
    DroppedTiles* dropped = nullptr;       // of earlier passes of the filter over the same text; or null
};

// Load all records of the plan's range. If the address space is too small for buffers sized by a bound, the load
// measures the text first and allocates exact buffers.
LoadResult load(const Source& source, const Dialect& dialect, const LoadPlan& plan, const LoadRun& run = {});

}  // namespace headrace
