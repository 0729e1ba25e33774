// A step of a stable sort by parts: keys of each block, and what goes with them, to the sub-buckets of their digits
// (scatter_stable.cuh).
#define HR_DIGITS_OF_KEYS  // whole ones, by their number
#define HR_PLACES by_look_back
#define HR_RANK by_additions
#include "arrange/sort/gpu/msd/scatter_stable.cuh"
// After the tile whose `threads` it uses.
#include "arrange/sort/gpu/msd/tail_passes.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

// Step `number` of the plan. Dynamic shared memory: what Splitting has.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    scatter_stable(Lists lists, u32 number, KeyRule<Key> rule, Arrays arrays, void* states) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    if (lists.counts[number].blocks == 0) return;
    scatter_stably({lists, rule, arrays, states, memory}, number, number == 0);
}

static_assert(sizeof(Assigning) <= tile_keys * place_bytes && digits <= tile_keys);

// States of look-back, which are not cleared before: a sort that does not go by parts has no use for them.
static __device__ __forceinline__ void clear_states(void* states, u64 bytes) {
    uint4* const all = static_cast<uint4*>(states);
    const u64 step = static_cast<u64>(gridDim.x) * threads;
    for (u64 i = static_cast<u64>(blockIdx.x) * threads + threadIdx.x; i < bytes / 16; i += step) all[i] = {0, 0, 0, 0};
}

// From step `number` of the plan on; from the first one on if the plan goes by parts. Dynamic shared memory: what
// Splitting has. `meeting` is zero, and will be.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    tail_passes(Lists lists, u32 number, KeyRule<Key> rule, Arrays arrays, tile::Counters* meeting, void* states,
                FirstPass first) {
    HR_DYNAMIC_SHARED(uint4, memory);
    if (number == 0 ? lists.plan->method != SortMethod::msd : lists.counts[number].blocks == 0) return;
    const StableScatter task = {lists, rule, arrays, states, memory};
    const CountTask counting = {lists, rule, arrays, false, false};
    if (number == 0) clear_states(states, first.states_bytes);
    GridBarrier barrier(meeting);
    run_tail<true>(number, {counting, first, barrier, memory},
                   [&](u32 step) { scatter_stably(task, step, step == 0); });
}
