// Splits keys and columns stably by class in one pass: remaining keys first, then those of each heavy hitter. It is a
// pass of the LSD sort (onesweep_pass.cu) whose digit is the class.
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#define HR_RULE HeavyClass
#include "arrange/sort/gpu/heavy_hitters/heavy_class.cuh"
#define HR_PLACES by_look_back
#define HR_RANK by_additions
#include "arrange/sort/gpu/lsd/pass_tile.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

using Table = ClassTable<Key, bits>;

// Computes where each class begins, and stores the number of remaining keys in the plan.
HR_FN void begin_classes(const Table::All& heavy, u64 count, SplitShared& shared, DevicePlan* plan) {
    const u32 c = threadIdx.x;
    if (c >= digits) return;
    u64 all = 0, before = 0;
    for (u32 other = 1; other <= heavy.number; ++other) {
        const u64 some = heavy.count[other];
        all += some;
        before += other < c ? some : 0;
    }
    shared.base[c] = c == 0 ? 0 : count - all + before;
    if (c == 0 && blockIdx.x == 0) plan->remainder = static_cast<u32>(count - all);
}

// Moves from the source to `between`, if the plan has heavy hitters.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    extract_stable(DevicePlan* plan, const Table::All* heavy, KeyRule<Key> rule, SortArrays arrays, Portion portion) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ Columns columns;
    __shared__ Table table;
    if (plan->heavy == 0) return;
    const PassStep step = {0, BufferRole::source, BufferRole::between, 0};
    Key* const staging = reinterpret_cast<Key*>(memory);
    SplitShared& shared = *reinterpret_cast<SplitShared*>(reinterpret_cast<u8*>(memory) + tile_keys * place_bytes);
    const SplitPlaces places = {nullptr, nullptr, 0, portion.memory, portion.epoch, 0};
    LookBack look_back(places.memory, places.epoch);
    if constexpr (only == 0) choose_columns(columns, arrays, step, 0);
    const Columns beside = column_beside(arrays, step, 0);
    table.fill(*heavy);
    begin_classes(*heavy, portion.count, shared, plan);
    clear_spare(shared);
    if (threadIdx.x == 0) shared.tile = look_back.take_tile();
    __syncthreads();
    const u32 first = shared.tile;
    const Digit digit = {{rule, &table}, digits - 1, 0};
    const Key* const in = static_cast<const Key*>(arrays.keys.source);
    Key* const out = static_cast<Key*>(arrays.keys.between);
    const SplitWork work{in, out, portion.count, digit, places, only != 0 ? beside : columns, shared, staging};
    sort_tiles({work, portion, look_back, nullptr, plan, 0, rule, false, false}, first);
    if (threadIdx.x == 0) look_back.end();
}
