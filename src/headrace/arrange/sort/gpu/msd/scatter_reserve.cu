// Scatters keys alone in passes of the MSD sort (scatter_blocks.cuh): one pass a launch, or all remaining passes in
// one (tail_passes.cuh).
#include "arrange/sort/gpu/msd/scatter_blocks.cuh"
// After the tile whose `threads` it uses.
#include "arrange/sort/gpu/msd/tail_passes.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

// Runs pass `number` of the plan. Dynamic shared memory: the bins.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    scatter_reserve(Lists lists, u32 number, KeyRule<Key> rule, SortArrays arrays) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(Key, staging);
    scatter_blocks({lists, rule, arrays, staging}, number, number == 0);
}

static_assert(sizeof(Assigning) <= digits * bin_bytes);

// Runs all passes from `number` on. Dynamic shared memory: the bins. `meeting` is zero before and after the launch.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    tail_passes_keys(Lists lists, u32 number, KeyRule<Key> rule, SortArrays arrays, tile::Counters* meeting) {
    HR_DYNAMIC_SHARED(uint4, memory);
    if (lists.counts[number].blocks == 0) return;
    const Scattering task = {lists, rule, arrays, reinterpret_cast<Key*>(memory)};
    const CountTask counting = {lists, rule, arrays, false, false};
    GridBarrier barrier(meeting);
    run_tail<false>(number, {counting, {}, barrier, memory}, [&](u32 step) { scatter_blocks(task, step, false); });
}
