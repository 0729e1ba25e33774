// Keys, and what goes with them, in the order of one digit, stable, in one reading: a step of a sort from the lowest
// digit up. (Adinets and Merrill 2022, "Onesweep: A faster least significant digit radix sort for GPUs", sections 3 and
// 4: all digits' counts known beforehand, places of tiles by decoupled look-back.) Tiles are counted, ranked and
// written as a multisplit's are (arrange/multisplit/split.cu).
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#define HR_DIGITS_OF_KEYS  // whole ones, by their number
#define HR_PLACES by_look_back
#define HR_RANK by_additions
#include "arrange/sort/digits/pass_tile.cuh"
#include "core/tile/launch.cuh"

using namespace headrace;

// Step `number` of the plan. Dynamic shared memory: `place_bytes` for each of a tile's keys, and Shared.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    sort_pass(const Plan* plan, u32 number, KeyRule<Key> rule, Arrays arrays, Portion portion) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ Columns columns;
    if (plan->how != How::by_digits || number >= plan->steps) return;
    const Step step = plan->step[number];
    const bool is_last = number + 1 == plan->steps;
    Key* const room = reinterpret_cast<Key*>(memory);
    Shared& shared = *reinterpret_cast<Shared*>(reinterpret_cast<u8*>(memory) + tile_keys * place_bytes);
    const Places places = {nullptr, nullptr, 0, portion.memory, portion.epoch, 0};
    LookBack look_back(places.memory, places.epoch);
    if constexpr (only == 0) choose_columns(columns, arrays, step, portion.begin);
    const Columns beside = column_beside(arrays, step, portion.begin);
    const u64 own = static_cast<u64>(step.digit) * digits;
    if (threadIdx.x < digits) shared.base[threadIdx.x] = portion.starts[own + threadIdx.x];
    clear_spare(shared);
    if (threadIdx.x == 0) shared.tile = look_back.take_tile();
    __syncthreads();
    const u32 first = shared.tile;
    const Digit digit = digit_by_number(rule, step.digit);
    const Key* const in = static_cast<const Key*>(arrays.keys.from(step.from)) + portion.begin;
    const bool writes = !is_last || portion.writes_keys != 0 || plan->heavy != 0;
    Key* const out = writes ? static_cast<Key*>(arrays.keys.to(step.to)) : nullptr;
    const u64 count = plan->heavy != 0 ? plan->lights : portion.count;
    const Work work{in, out, count, digit, places, only != 0 ? beside : columns, shared, room};
    u64* const next_starts = portion.next_starts == nullptr ? nullptr : portion.next_starts + own;
    sort_tiles({work, portion, look_back, next_starts, rule, number == 0, is_last}, first);
    if (threadIdx.x == 0) look_back.end();
}
