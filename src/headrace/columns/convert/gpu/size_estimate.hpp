// Declares the size ranges of a speculative conversion. The host launches such a conversion before the row count is
// known, into buffers of estimated size (columns/load/gpu/estimate.py). A kernel checks the estimate and publishes the
// row count, or `MISPREDICTED`, in a word of device memory.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Actual sizes that a buffer of estimated size is good for. Above `max` they do not fit. Below `min` too much of the
// buffer would stay unused.
struct SizeRange {
    u64 min, max;
};
static_assert(sizeof(SizeRange) == 16);

// Takes the place of the row count if the estimate was wrong: the kernels that follow write nothing, and the host
// retries.
constexpr u64 MISPREDICTED = ~u64{0};

// `rows`: null if the host has counted the rows before the launch.
HR_FN bool is_mispredicted(const u64* rows) { return rows != nullptr && *rows == MISPREDICTED; }

HR_END_NAMESPACE
