// A step of a sort of keys alone by parts: keys of each block to the sub-buckets of their digits (scatter_blocks.cuh).
#include "arrange/sort/gpu/msd/scatter_blocks.cuh"
// After the tile whose `threads` it uses.
#include "arrange/sort/gpu/msd/tail_passes.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

// Step `number` of the plan; dynamic shared memory: the bins.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    scatter_reserve(Lists lists, u32 number, KeyRule<Key> rule, Arrays arrays) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(Key, room);
    scatter_blocks({lists, rule, arrays, room}, number, number == 0);
}

static_assert(sizeof(Assigning) <= digits * bin_bytes);

// From step `number` of the plan on; dynamic shared memory: the bins. `meeting` is zero, and will be.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    tail_passes_keys(Lists lists, u32 number, KeyRule<Key> rule, Arrays arrays, tile::Counters* meeting) {
    HR_DYNAMIC_SHARED(uint4, memory);
    if (lists.counts[number].blocks == 0) return;
    const Scattering task = {lists, rule, arrays, reinterpret_cast<Key*>(memory)};
    const CountTask counting = {lists, rule, arrays, false, false};
    GridBarrier barrier(meeting);
    run_tail<false>(number, {counting, {}, barrier, memory}, [&](u32 step) { scatter_blocks(task, step, false); });
}
