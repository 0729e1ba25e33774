// What is to be done, from the counts of all digits: steps for the digits that differ, and for no others; a straight
// copy where keys are in order; from the highest digit down where that moves less. Also where each digit's keys begin.
// A block; nothing is moved.
#include "arrange/sort/gpu/common/plan_steps.cuh"
#include "gpu/block/block.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 warps = threads / tile::lanes;
static_assert(threads >= digits && digits % 4 == 0 && key_digits <= most_steps);

struct PlanShared {
    u32 counts[key_digits][digits];
    u32 alike;       // digits that all keys share, a bit each
    u32 highest[3];  // digits that differ
    float sums[warps];
};

// Keys, of all, that are in parts larger than a block sorts: behind the first digit, and behind the second, were the
// two independent; and how likely two keys have the same third digit.
static __device__ __forceinline__ void look_at_counts(const Case& task, PlanShared& shared, float (&share)[3]) {
    const float all = static_cast<float>(task.count), most = static_cast<float>(task.most_in_one);
    const u32 d = threadIdx.x;
    const u32* const second = shared.counts[shared.highest[1]];
    float found[3] = {}, both_of[4] = {};  // in four sums, none of which waits for another
    if (d < digits) {
        const float own = static_cast<float>(shared.counts[shared.highest[0]][d]), share = own / all;
        if (own > most) found[0] = own;
#pragma unroll 2
        for (u32 e = 0; e < digits; e += 4) {
#pragma unroll
            for (u32 k = 0; k < 4; ++k) {
                const float both = share * static_cast<float>(second[e + k]);
                if (both > most) both_of[k] += both;
            }
        }
        found[1] = (both_of[0] + both_of[1]) + (both_of[2] + both_of[3]);
        const float third = static_cast<float>(shared.counts[shared.highest[2]][d]);
        found[2] = third * (third / all);
    }
    for (u32 distance = 16; distance != 0; distance /= 2) {
#pragma unroll
        for (u32 which = 0; which < 3; ++which) found[which] += tile::shuffle_down(found[which], distance);
    }
#pragma unroll
    for (u32 round = 0; round < 3; ++round) {
        share[round] = 0;
        __syncthreads();
        if (tile::lane() == 0) shared.sums[tile::warp()] = found[round];
        __syncthreads();
        for (u32 w = 0; w < warps; ++w) share[round] += shared.sums[w] / all;
    }
}

// Whether a sort by parts takes less.
static __device__ __forceinline__ bool parts_are_better(const Case& task, PlanShared& shared, u32 differing) {
    if (differing < 3) return false;
    float share[3];
    look_at_counts(task, shared, share);
    const float splits = share[0] + share[1] * static_cast<float>(differing - 2);
    return is_better(cost_by_parts(task, splits, false, share[2] * digits), cost_by_digits(task, differing));
}

// A digit's counts, of a warp, all on their way at once.
constexpr u32 each = (digits + tile::lanes - 1) / tile::lanes;

static __device__ __forceinline__ void load_counts(u32 digit, const u64* totals, u64 (&count)[each]) {
#pragma unroll
    for (u32 i = 0; i < each; ++i) {
        const u32 value = i * tile::lanes + tile::lane();
        count[i] = digit < key_digits && value < digits ? totals[digit * digits + value] : 0;
    }
}

// Where each value's keys begin.
static __device__ __forceinline__ void start_digit(u32 digit, u64 all, const u64 (&count)[each], u64* starts,
                                                   PlanShared& shared) {
    u64 before = 0;
    bool is_alike = false;
#pragma unroll
    for (u32 i = 0; i < each; ++i) {
        const u32 value = i * tile::lanes + tile::lane();
        const u64 upto = before + tile::scan_warp<Sum<u64>>(count[i]);
        before = tile::shuffle(upto, tile::lanes - 1);
        is_alike |= count[i] == all;
        if (value >= digits) continue;
        starts[digit * digits + value] = upto - count[i];
        shared.counts[digit][value] = static_cast<u32>(count[i]);
    }
    if (__any_sync(tile::all_lanes, is_alike) && tile::lane() == 0) atomicOr(&shared.alike, 1u << digit);
}

// `totals`, `starts`: for each digit and value. Nothing, where the plan is made.
extern "C" __global__ void __launch_bounds__(threads)
    sort_plan(const u64* totals, const Disorder* disorder, Case task, u64* starts, Plan* plan) {
    tile::wait_for_launch_before();
    __shared__ PlanShared shared;
    u64 count[each];  // asked for, like what follows, before anything is waited for
    load_counts(tile::warp(), totals, count);
    const Disorder found = {load_now(disorder->falls), load_now(disorder->rises)};
    const How decided = load_now(plan->how);
    const u32 heavy = load_now(plan->heavy), lights = load_now(plan->lights), repeats = load_now(plan->repeats);
    if (decided != How::undecided) return;
    if (heavy != 0) task.count = lights;
    if (threadIdx.x == 0) shared.alike = 0;
    __syncthreads();
    for (u32 digit = tile::warp(); digit < key_digits; digit += warps) {
        if (digit >= warps) load_counts(digit, totals, count);
        start_digit(digit, task.count, count, starts, shared);
    }
    __syncthreads();
    const u32 differ = ~shared.alike & ((1u << key_digits) - 1), differing = static_cast<u32>(__popc(differ));
    if (threadIdx.x == 0) {
        for (u32 left = differ, i = 0; left != 0 && i < 3; ++i) {
            shared.highest[i] = 31 - static_cast<u32>(__clz(static_cast<int>(left)));
            left &= ~(1u << shared.highest[i]);
        }
    }
    __syncthreads();
    How how = How::by_digits;
    const bool may_go = task.parts == 1 && repeats == 0;
    if (task.parts == 2 || (may_go && parts_are_better(task, shared, differing))) how = How::by_parts;
    const bool may_be_copied = heavy == 0;  // light keys are not where they end
    if (may_be_copied && found.falls == 0)
        how = How::straight;
    else if (may_be_copied && found.rises == 0)
        how = How::reversed;
    if (threadIdx.x == 0) write_steps(*plan, differ, task, how);
}
