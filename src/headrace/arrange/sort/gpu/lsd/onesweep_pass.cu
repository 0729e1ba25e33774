// Sorts keys, and columns that move with them, stably by one digit in one pass over the data. This is a pass of the LSD
// sort (Adinets and Merrill 2022, "Onesweep: A faster least significant digit radix sort for GPUs", sections 3 and 4).
// The counts of all digits are known; the offsets of tiles come from decoupled look-back. A tile is counted, ranked and
// written as in a multisplit (arrange/multisplit/gpu/split.cu).
//
// Two kernels share this file: `onesweep_pass` sorts all keys, `remainder_pass` those that are left after heavy hitters
// were extracted (heavy_hitters.cuh). A kernel that takes its count from its arguments alone is a tenth faster than one
// that may take it from the plan (docs/decisions/0023).
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#define HR_DIGITS_OF_KEYS  // a digit is a whole byte of a key
#define HR_PLACES by_look_back
#define HR_RANK by_additions
#include "arrange/sort/gpu/lsd/pass_tile.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

// Runs pass `number` of the plan on the first `count` keys of a portion. `columns` is shared memory.
HR_FN void run_pass(const DevicePlan* plan, u32 number, const KeyRule<Key>& rule, const SortArrays& arrays,
                    const Portion& portion, u64 count, uint4* memory, Columns& columns) {
    const PassStep step = plan->step[number];
    const bool is_last = number + 1 == plan->steps;
    Key* const staging = reinterpret_cast<Key*>(memory);
    SplitShared& shared = *reinterpret_cast<SplitShared*>(reinterpret_cast<u8*>(memory) + tile_keys * place_bytes);
    const SplitPlaces places = {nullptr, nullptr, 0, portion.memory, portion.epoch, 0};
    LookBack look_back(places.memory, places.epoch);
    if constexpr (only == 0) choose_columns(columns, arrays, step, portion.begin);
    const Columns beside = column_beside(arrays, step, portion.begin);
    const auto own = starts_of(step.digit);
    if (threadIdx.x < digits) shared.base[threadIdx.x] = portion.starts[own + threadIdx.x];
    clear_spare(shared);
    if (threadIdx.x == 0) shared.tile = look_back.take_tile();
    __syncthreads();
    const u32 first = shared.tile;
    const Digit digit = digit_by_number(rule, step.digit);
    const Key* const in = static_cast<const Key*>(arrays.keys.from(step.from)) + portion.begin;
    Key* const out = is_last && portion.writes_keys == 0 ? nullptr : static_cast<Key*>(arrays.keys.to(step.to));
    const SplitWork work{in, out, count, digit, places, only != 0 ? beside : columns, shared, staging};
    u64* const next_starts = portion.next_starts == nullptr ? nullptr : portion.next_starts + own;
    sort_tiles({work, portion, look_back, next_starts, plan, number, rule, number == 0, is_last}, first);
    if (threadIdx.x == 0) look_back.end();
}

// Dynamic shared memory of both kernels: `place_bytes` for each key of a tile, and SplitShared.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    onesweep_pass(const DevicePlan* plan, u32 number, KeyRule<Key> rule, SortArrays arrays, Portion portion) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ Columns columns;
    if (plan->method != SortMethod::lsd || plan->heavy != 0 || number >= plan->steps) return;
    run_pass(plan, number, rule, arrays, portion, portion.count, memory, columns);
}

// Keys are always written: the merge finds by them where heavy hitters belong.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    remainder_pass(const DevicePlan* plan, u32 number, KeyRule<Key> rule, SortArrays arrays, Portion portion) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ Columns columns;
    if (plan->method != SortMethod::lsd || plan->heavy == 0 || number >= plan->steps) return;
    run_pass(plan, number, rule, arrays, portion, plan->remainder, memory, columns);
}
