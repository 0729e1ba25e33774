// A step of a stable sort by parts: keys of each block, and what goes with them, to the sub-buckets of their digits
// (scatter_stable.cuh).
#define HR_DIGITS_OF_KEYS  // whole ones, by their number
#define HR_PLACES by_look_back
#define HR_RANK by_additions
#include "arrange/sort/gpu/msd/scatter_stable.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

// Step `number` of the plan. Dynamic shared memory: what Splitting has.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    parts_stable(Lists lists, u32 number, KeyRule<Key> rule, Arrays arrays, void* states) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    if (lists.counts[number].blocks == 0) return;
    split_stably({lists, rule, arrays, states, memory}, number, number == 0);
}
