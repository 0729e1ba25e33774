// A step of a sort by digits, of light keys (heavy_hitters.cuh), whose count the plan knows; keys are always written,
// since where heavy ones belong is found by them.
//
// Bytes moved per light key of width w, with values of width v: 2 w + 2 v.
#define HR_DIGITS_OF_KEYS  // whole ones, by their number
#define HR_PLACES by_look_back
#define HR_RANK by_additions
#include "arrange/sort/gpu/lsd/onesweep_pass.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

// Step `number` of the plan. Dynamic shared memory: `place_bytes` for each of a tile's keys, and Shared.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    light_pass(const Plan* plan, u32 number, KeyRule<Key> rule, Arrays arrays, Portion portion) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ Columns columns;
    if (plan->how != How::by_digits || plan->heavy == 0 || number >= plan->steps) return;
    run_pass(plan, number, rule, arrays, portion, plan->lights, memory, columns);
}
