// Computes running sums of floats in the order of primitives/float_scan.hpp: a thread has a group. The host launches
// `sum_groups` for each level, then `scan_groups` for each level, the highest first.
//
// Bytes moved per item of width w: 3 w, and 4 w per group. Groups of a warp are adjacent, so each line of 128 bytes is
// used from the cache.
#include "primitives/float_scan.hpp"

using namespace headrace;

using Item = HR_ITEM;
constexpr u32 threads = HR_THREADS;

static __device__ __forceinline__ u64 group_of_thread() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

extern "C" __global__ void __launch_bounds__(threads) sum_groups(const Item* in, u64 count, Item* sums) {
    const u64 group = group_of_thread();
    if (group < group_count(count)) sums[group] = sum_group(in + group * scan_group, group_size(count, group));
}

// `before`: running sums of the groups' sums, null for one group. Result i is written to out[i + `shift`] if that is
// below `length`; a shift of 1 writes 0 to out[0].
extern "C" __global__ void __launch_bounds__(threads)
    scan_groups(const Item* in, u64 count, const Item* before, Item* out, u64 shift, u64 length) {
    const u64 group = group_of_thread();
    if (group == 0 && shift == 1) out[0] = 0;
    if (group >= group_count(count)) return;
    const u64 first = group * scan_group + shift;
    if (first >= length) return;
    scan_items(in + group * scan_group, group_size(count, group), group == 0 ? nullptr : before + group - 1,
               out + first, length - first);
}
