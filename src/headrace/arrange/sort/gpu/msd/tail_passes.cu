// The rest of a stable sort's steps by parts in one launch, or all of them (tail_passes.cuh, scatter_stable.cuh).
#define HR_DIGITS_OF_KEYS  // whole ones, by their number
#define HR_PLACES by_look_back
#define HR_RANK by_additions
#include "arrange/sort/gpu/msd/scatter_stable.cuh"
// Behind the tile whose threads it has.
#include "arrange/sort/gpu/msd/tail_passes.cuh"

using namespace headrace;

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
    parts_rest(Lists lists, u32 number, KeyRule<Key> rule, Arrays arrays, tile::Counters* meeting, void* states,
               First first) {
    HR_DYNAMIC_SHARED(uint4, memory);
    if (number == 0 ? lists.plan->how != How::by_parts : lists.counts[number].blocks == 0) return;
    const Splitting task = {lists, rule, arrays, states, memory};
    const Counting counting = {lists, rule, arrays, false, false};
    if (number == 0) clear_states(states, first.states_bytes);
    Blocks blocks(meeting);
    do_rest<true>(number, {counting, first, blocks, memory}, [&](u32 step) { split_stably(task, step, step == 0); });
}
