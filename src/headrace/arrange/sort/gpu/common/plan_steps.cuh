// What a plan is made of, however digits were counted: whether to go by parts, and the steps.
#pragma once
#include "arrange/sort/gpu/common/device_plan.cuh"
#include "arrange/sort/gpu/common/digit.cuh"

namespace headrace {

static_assert(key_digits <= max_passes);

struct PlanInputs {
    u64 count;
    u32 in_place;  // then the number of steps must be even
    u32 parts;     // whether the sort may go by parts, from the highest digit down: 0 no, 1 where it moves less, 2 yes
    u32 max_leaf_keys;  // keys that one block sorts alone
    u32 value_bytes;    // of what goes with a key
};

// What a key alone costs in picoseconds, measured on an H200 with 2^27 to 2^29 of them (docs/decisions/0023): to count
// its head, or all its digits, or a digit of its part; in a pass of a sort by digits; to be scattered by parts, twice
// as much, of keys alone, where buckets are small or digits skewed; and at the end to be sorted in its part, if that
// takes one pass; to be counted as a heavy one and written in the end; to be copied. To count all digits takes 1.0 and
// 2.3 by now; the borders were found with these.
struct Costs {
    float prefixes, digits, again, pass, scatter, local, extract, copy;
};
constexpr Costs costs = sizeof(Key) == 4 ? Costs{1.1f, 1.8f, 1.2f, 3.7f, 2.8f, 3.5f, 2.5f, 1.9f}
                                         : Costs{2.0f, 3.9f, 2.0f, 5.8f, 5.3f, 5.5f, 5.0f, 3.8f};

static __device__ __forceinline__ float moved_with(const PlanInputs& task) {
    return 1 + static_cast<float>(task.value_bytes) / sizeof(Key);
}
static __device__ __forceinline__ float lsd_cost(const PlanInputs& task, u32 differing) {
    return costs.pass * moved_with(task) * static_cast<float>(differing);
}
// A part takes one pass where what is left of its keys is spread evenly; else it goes digit by digit, which takes as
// long with values. `crowding` is how many times as many pairs of keys have the same third digit as if they were spread
// evenly: 1 of uniform words and of most floats, 6 of two words ANDed, which took 5 passes more.
static __device__ __forceinline__ float cost_of_crowding(float crowding) {
    const float more = (crowding < 6 ? crowding : 6) - 1;
    return more < 0 ? 0 : costs.local * more;
}
// `splits`: how often a key is split behind its first digit. What heads told is not counted again.
static __device__ __forceinline__ float msd_cost(const PlanInputs& task, float splits, bool has_prefixes,
                                                 float crowding) {
    const float second = splits < 1 ? splits : 1, later = splits - second;
    const float counting = costs.again * (has_prefixes ? later : splits);
    const float of_later = task.value_bytes == 0 ? 2 : 1.3f;  // times a scatter
    const float moving = costs.scatter * (1 + second + of_later * later) + costs.local;
    return moved_with(task) * moving + cost_of_crowding(crowding) + counting;
}
// By a seventh at least, since parts are counted upon to divide as the digits before did.
static __device__ __forceinline__ bool is_cheaper(float msd, float lsd) { return msd < 0.85f * lsd; }

// The same where a share of keys is light, and all others are set aside: of keys alone these are counted, and written
// in the end; of pairs they move twice, as a step moves them and as a copy.
static __device__ __forceinline__ float heavy_cost(const PlanInputs& task, float light, u32 differing) {
    const float extract =
        task.value_bytes == 0 ? costs.extract : costs.prefixes + moved_with(task) * (costs.pass + costs.copy);
    return extract + light * (costs.digits + lsd_cost(task, differing));
}

// The steps of the digits that `differ`, in an even number where sorted in place: then one of the others is a copy.
// Light keys stay where they are, too.
static __device__ __forceinline__ void write_passes(DevicePlan& plan, u32 differ, const PlanInputs& task,
                                                    SortMethod method) {
    const u32 own = static_cast<u32>(__popc(differ)), others = ~differ & ((1u << key_digits) - 1);
    const bool is_remainder = plan.heavy != 0;  // read once, since steps are written to the same memory
    const bool is_even = task.in_place != 0 || is_remainder;
    const bool copies = is_even && own % 2 != 0 && others != 0;
    const u32 steps = own + (copies ? 1 : 0);
    u32 s = 0;
    const auto add = [&](u32 digit) {
        const bool to_last = (steps - 1 - s) % 2 == 0;
        const BufferRole to = to_last != is_remainder ? BufferRole::target : BufferRole::between;
        const BufferRole other = to == BufferRole::target ? BufferRole::between : BufferRole::target;
        const BufferRole from = s == 0 && !is_remainder ? BufferRole::source : other;
        plan.step[s++] = {digit, from, to, 0};
    };
    for (u32 d = 0; d < key_digits; ++d) {
        const u32 digit = method == SortMethod::msd ? key_digits - 1 - d : d;
        if ((differ >> digit & 1) != 0) add(digit);
    }
    if (copies) add(static_cast<u32>(trailing_zeros(others)));
    plan.method = method;
    plan.steps = steps;
}

}  // namespace headrace
