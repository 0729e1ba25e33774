// Describes the cuts of a merge (merge.cu).
#pragma once
#include "index/sorted_map/level.hpp"

HR_BEGIN_NAMESPACE

struct CutTask {
    u64 items;          // of all levels
    u64 stride;         // items from one cut to the next
    u64 cuts;           // number of cuts: one at each multiple of the stride, and one at the end
    u64 coarse_stride;  // the same of the cuts that are known
    u64 coarse_cuts;
};

HR_END_NAMESPACE
