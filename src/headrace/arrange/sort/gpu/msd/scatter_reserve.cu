// A step of a sort of keys alone by parts: keys of each block to the sub-buckets of their digits (scatter_blocks.cuh).
#include "arrange/sort/gpu/msd/scatter_blocks.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

// Step `number` of the plan; dynamic shared memory: the bins.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    parts_reserve(Lists lists, u32 number, KeyRule<Key> rule, Arrays arrays) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(Key, room);
    scatter_blocks({lists, rule, arrays, room}, number, number == 0);
}
