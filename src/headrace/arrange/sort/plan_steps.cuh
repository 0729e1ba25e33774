// What a plan is made of, however digits were counted: whether to go by parts, and the steps.
#pragma once
#include "arrange/sort/digit.cuh"
#include "arrange/sort/plan.cuh"

namespace headrace {

static_assert(key_digits <= most_steps);

struct Case {
    u64 count;
    u32 in_place;  // then the number of steps must be even
    u32 parts;     // whether the sort may go by parts, from the highest digit down: 0 no, 1 where it moves less, 2 yes
    u32 most_in_one;  // keys that one block sorts alone
    u32 value_bytes;  // of what goes with a key
};

// Whether a sort by parts moves less: keys are read once more for each digit they are counted by, but for the first
// and, where heads tell, the second, and parts that a block sorts are read and written once, whatever digits they have
// left. `again`: how often a key is split behind its first digit.
static __device__ __forceinline__ bool parts_move_less(const Case& task, float again, u32 differing, float counted) {
    const float values = static_cast<float>(task.value_bytes) / sizeof(Key);
    const float by_parts = 1 + 2 + 2 * again + (again - counted) + 2 + values * (2 + 2 * again + 2);
    return by_parts < 1 + (1 + values) * 2 * static_cast<float>(differing);
}

// The steps of the digits that `differ`, in an even number where sorted in place: then one of the others is a copy.
static __device__ __forceinline__ void write_steps(Plan& plan, u32 differ, const Case& task, How how) {
    u32 order[most_steps], steps = 0;
    for (u32 d = 0; d < key_digits; ++d) {
        const u32 digit = how == How::by_parts ? key_digits - 1 - d : d;
        if ((differ >> digit & 1) != 0) order[steps++] = digit;
    }
    for (u32 d = 0; d < key_digits && task.in_place != 0 && steps % 2 != 0; ++d) {
        if ((differ >> d & 1) == 0) order[steps++] = d;
    }
    for (u32 s = 0; s < steps; ++s) {
        const Place to = (steps - 1 - s) % 2 == 0 ? Place::target : Place::between;
        const Place from = s == 0 ? Place::source : to == Place::target ? Place::between : Place::target;
        plan.step[s] = {order[s], from, to, 0};
    }
    plan.how = how;
    plan.steps = steps;
}

}  // namespace headrace
