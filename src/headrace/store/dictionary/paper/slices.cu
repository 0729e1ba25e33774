// Merges two dictionaries in slices, a thread for each slice (Krueger et al. 2011, section 3.1). The paper's host adds
// the prefix sums afterwards; here a second kernel copies the sections together and completes both tables.
//
// In a variant of the paper a thread takes its neighbour's begin as its end, after a barrier among all threads. Here
// find_slice_begins is a launch before the merge instead. Without it, each thread searches both.
//
// Bytes moved per value of width w: 4 w and 12, in accesses that lanes do not share.
#include "store/dictionary/paper/slices.hpp"

using namespace headrace;

using Value = HR_VALUE;
constexpr u32 threads = HR_THREADS;

HR_FN u64 slice_of_thread() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

HR_FN SliceBegin known_begin(const SlicedPair<Value>& all, const SliceBegin* begins, u64 slice) {
    return begins != nullptr ? begins[slice] : begin_of_slice(all, slice);
}

extern "C" __global__ void __launch_bounds__(threads)
    find_slice_begins(const __grid_constant__ SlicedPair<Value> all, SliceBegin* begins) {
    const u64 slice = slice_of_thread();
    if (slice <= all.slices) begins[slice] = begin_of_slice(all, slice);
}

// `begins`: of find_slice_begins, or null; `counts`: distinct values of each slice.
extern "C" __global__ void __launch_bounds__(threads)
    merge_slices(const __grid_constant__ SlicedPair<Value> all, const SliceBegin* begins,
                 const __grid_constant__ SliceTarget<Value> to, u64* counts) {
    const u64 slice = slice_of_thread();
    if (slice >= all.slices) return;
    counts[slice] = merge_slice(all, known_begin(all, begins, slice), known_begin(all, begins, slice + 1), to);
}

// `ends`: sums of the counts of each slice and all preceding ones. A block for each slice.
extern "C" __global__ void __launch_bounds__(threads)
    compact_slices(const __grid_constant__ SlicedPair<Value> all, const __grid_constant__ SliceTarget<Value> to,
                   const u64* ends, Value* merged) {
    const u64 slice = blockIdx.x, first = slice == 0 ? 0 : ends[slice - 1], count = ends[slice] - first;
    const SliceBegin begin = begin_of_slice(all, slice), end = begin_of_slice(all, slice + 1);
    for (u64 i = threadIdx.x; i < count; i += threads) merged[first + i] = to.sections[begin.main + begin.delta + i];
    for (u64 i = begin.main + threadIdx.x; i < end.main; i += threads) to.main_codes[i] += static_cast<u32>(first);
    for (u64 k = begin.delta + threadIdx.x; k < end.delta; k += threads) to.delta_codes[k] += static_cast<u32>(first);
}
