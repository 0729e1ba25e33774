// Scatters keys and columns stably in passes of the MSD sort (scatter_stable.cuh): one pass a launch, or all
// remaining passes in one (tail_passes.cuh).
#define HR_DIGITS_OF_KEYS  // a digit is a whole byte of a key
#define HR_PLACES by_look_back
#define HR_RANK by_additions
#include "arrange/sort/gpu/msd/scatter_stable.cuh"
// After the tile whose `threads` it uses.
#include "arrange/sort/gpu/msd/tail_passes.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

// Runs pass `number` of the plan. Dynamic shared memory: that of StableScatter.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    scatter_stable(Lists lists, u32 number, KeyRule<Key> rule, SortArrays arrays, void* states) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    if (lists.counts[number].blocks == 0) return;
    scatter_stably({lists, rule, arrays, states, memory}, number, number == 0);
}

static_assert(sizeof(Assigning) <= tile_keys * place_bytes && digits <= tile_keys);

// Clears look-back states. The host does not clear them beforehand: a sort that does not choose MSD has no use for
// them.
static __device__ __forceinline__ void clear_states(void* states, u64 bytes) {
    uint4* const all = static_cast<uint4*>(states);
    const u64 step = static_cast<u64>(gridDim.x) * threads;
    for (u64 i = static_cast<u64>(blockIdx.x) * threads + threadIdx.x; i < bytes / 16; i += step) all[i] = {0, 0, 0, 0};
}

// Runs all passes from `number` on; from the first one, if the plan chose MSD. Dynamic shared memory: that of
// StableScatter. `meeting` is zero before and after the launch.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    tail_passes(Lists lists, u32 number, KeyRule<Key> rule, SortArrays arrays, tile::Counters* meeting, void* states,
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
