// Describes the cuts of a merge (merge.cu).
#pragma once
#include "index/sorted_map/level.hpp"

HR_BEGIN_NAMESPACE

struct CutTask {
    u64 stride;  // items of a level from one sample to the next
    u64 span;    // a cut is the first sample whose place in the result is at or after a multiple of this
    u64 cuts;    // number of cuts, with the end
};

// Returns the number of samples of a level.
HR_FN u64 samples_of(u64 count, u64 stride) { return (count + stride - 1) / stride; }

HR_END_NAMESPACE
