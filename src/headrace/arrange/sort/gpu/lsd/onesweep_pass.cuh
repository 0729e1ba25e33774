// One step of a sort from the lowest digit up, of a portion's keys: what onesweep_pass.cu and heavy/light_pass.cu have
// in common. A kernel that knows its count from its arguments alone is a tenth faster than one that may take it from
// the plan (docs/decisions/0023), so there are two.
#pragma once
#include "arrange/sort/gpu/lsd/pass_tile.cuh"

namespace headrace {

// Step `number` of the plan, of the `count` first keys of a portion. `columns`: shared memory.
static __device__ __forceinline__ void run_pass(const Plan* plan, u32 number, const KeyRule<Key>& rule,
                                                const Arrays& arrays, const Portion& portion, u64 count, uint4* memory,
                                                Columns& columns) {
    const Step step = plan->step[number];
    const bool is_last = number + 1 == plan->steps;
    Key* const room = reinterpret_cast<Key*>(memory);
    Shared& shared = *reinterpret_cast<Shared*>(reinterpret_cast<u8*>(memory) + tile_keys * place_bytes);
    const Places places = {nullptr, nullptr, 0, portion.memory, portion.epoch, 0};
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
    const Work work{in, out, count, digit, places, only != 0 ? beside : columns, shared, room};
    u64* const next_starts = portion.next_starts == nullptr ? nullptr : portion.next_starts + own;
    sort_tiles({work, portion, look_back, next_starts, plan, number, rule, number == 0, is_last}, first);
    if (threadIdx.x == 0) look_back.end();
}

}  // namespace headrace
