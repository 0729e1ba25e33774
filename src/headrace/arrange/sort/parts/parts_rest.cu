// The rest of a stable sort's steps by parts in one launch (rest_of_steps.cuh, split_stably.cuh).
#define HR_DIGITS_OF_KEYS  // whole ones, by their number
#define HR_PLACES by_look_back
#define HR_RANK by_additions
#include "arrange/sort/parts/split_stably.cuh"
// Behind the tile whose threads it has.
#include "arrange/sort/parts/rest_of_steps.cuh"
#include "core/tile/launch.cuh"

using namespace headrace;

static_assert(sizeof(Assigning) <= tile_keys * place_bytes && digits <= tile_keys);

// From step `number` of the plan on. Dynamic shared memory: what Splitting has. `meeting` is zero, and will be.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    parts_rest(Lists lists, u32 number, KeyRule<Key> rule, Arrays arrays, tile::Counters* meeting, void* states) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    const Splitting task = {lists, rule, arrays, states, memory};
    do_rest(number, {lists, rule, arrays, false, false}, meeting, memory,
            [&](u32 step) { split_stably(task, step, false); });
}
