// The rest of the steps by parts of keys alone in one launch (tail_passes.cuh, scatter_blocks.cuh).
#include "arrange/sort/gpu/msd/scatter_blocks.cuh"
// Behind the tile whose threads it has.
#include "arrange/sort/gpu/msd/tail_passes.cuh"
#include "gpu/block/memory_access.cuh"

using namespace headrace;

static_assert(sizeof(Assigning) <= digits * bin_bytes);

// From step `number` of the plan on; dynamic shared memory: the bins. `meeting` is zero, and will be.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    parts_rest_alone(Lists lists, u32 number, KeyRule<Key> rule, Arrays arrays, tile::Counters* meeting) {
    HR_DYNAMIC_SHARED(uint4, memory);
    if (lists.counts[number].blocks == 0) return;
    const Scattering task = {lists, rule, arrays, reinterpret_cast<Key*>(memory)};
    const Counting counting = {lists, rule, arrays, false, false};
    Blocks blocks(meeting);
    do_rest<false>(number, {counting, {}, blocks, memory}, [&](u32 step) { scatter_blocks(task, step, false); });
}
