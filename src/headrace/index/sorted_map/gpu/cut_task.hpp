// Describes the cuts of a merge (merge.cu).
#pragma once
#include "index/sorted_map/level.hpp"

HR_BEGIN_NAMESPACE

struct CutTask {
    u64 items;   // of all levels
    u64 cuts;    // number of cuts: one at the begin of each tile, and the end
    u64 stride;  // items of a level from one sample to the next
};

// Returns the number of samples of a level.
HR_FN u64 samples_of(u64 count, u64 stride) { return (count + stride - 1) / stride; }

HR_END_NAMESPACE
