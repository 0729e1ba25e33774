// Keys, and what goes with them, in the order of one digit, stable, in one reading: a step of a sort from the lowest
// digit up. (Adinets and Merrill 2022, "Onesweep: A faster least significant digit radix sort for GPUs", sections 3 and
// 4: all digits' counts known beforehand, places of tiles by decoupled look-back.) Tiles are counted, ranked and
// written as a multisplit's are (arrange/multisplit/gpu/split.cu).
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#define HR_DIGITS_OF_KEYS  // whole ones, by their number
#define HR_PLACES by_look_back
#define HR_RANK by_additions
#include "arrange/sort/gpu/lsd/onesweep_pass.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

// Step `number` of the plan. Dynamic shared memory: `place_bytes` for each of a tile's keys, and Shared.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    sort_pass(const Plan* plan, u32 number, KeyRule<Key> rule, Arrays arrays, Portion portion) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ Columns columns;
    if (plan->how != How::by_digits || plan->heavy != 0 || number >= plan->steps) return;
    run_pass(plan, number, rule, arrays, portion, portion.count, memory, columns);
}
