// What is to be done, from the counts of all digits: steps for the digits that differ, and for no others; a straight
// copy where keys are in order; from the highest digit down where that moves less. Also where each digit's keys begin.
// A block; nothing is moved.
#include "arrange/sort/digits/plan_steps.cuh"
#include "core/tile/block.cuh"
#include "core/tile/launch.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 warps = threads / tile::lanes;
static_assert(threads >= digits && key_digits <= most_steps);

struct PlanShared {
    u64 totals[warps];
    u32 counts[3][digits];  // of the three highest digits that differ
    float sums[warps];
};

// Keys, of all, that are in parts larger than a block sorts: behind the first digit, and behind the second, were the
// two independent; and how likely two keys have the same third digit.
static __device__ __forceinline__ void look_at_counts(const Case& task, PlanShared& shared, float (&share)[3]) {
    const float all = static_cast<float>(task.count), most = static_cast<float>(task.most_in_one);
    const u32 d = threadIdx.x;
    float found[3] = {};
    if (d < digits) {
        const float own = static_cast<float>(shared.counts[0][d]), share = own / all;
        if (own > most) found[0] = own;
#pragma unroll 8
        for (u32 e = 0; e < digits; ++e) {
            const float both = share * static_cast<float>(shared.counts[1][e]);
            if (both > most) found[1] += both;
        }
        const float third = static_cast<float>(shared.counts[2][d]);
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

// `totals`, `starts`: for each digit and value. Nothing, where the plan is made.
extern "C" __global__ void __launch_bounds__(threads)
    sort_plan(const u64* totals, const Disorder* disorder, Case task, u64* starts, Plan* plan) {
    tile::wait_for_launch_before();
    __shared__ PlanShared shared;
    if (plan->how != How::undecided) return;
    if (plan->heavy != 0) task.count = plan->lights;
    u32 differ = 0, differing = 0;
    const u32 d = threadIdx.x;
    u64 count[key_digits];  // of the thread's value, all on their way at once
#pragma unroll
    for (u32 digit = 0; digit < key_digits; ++digit) count[digit] = d < digits ? totals[digit * digits + d] : 0;
#pragma unroll
    for (u32 digit = key_digits; digit-- != 0;) {
        const u64 own = count[digit];
        const u64 upto = tile::scan_warp<Sum<u64>>(own);
        const auto warps_before =
            tile::scan_warps<Sum<u64>, threads>(tile::shuffle(upto, tile::lanes - 1), shared.totals);
        if (d < digits) starts[digit * digits + d] = warps_before.before + upto - own;
        const bool is_alike = __syncthreads_or(own == task.count) != 0;
        if (is_alike) continue;
        if (differing < 3 && d < digits) shared.counts[differing][d] = static_cast<u32>(own);
        differ |= 1u << digit;
        ++differing;
    }
    __syncthreads();
    How how = How::by_digits;
    const bool may_go = task.parts == 1 && plan->repeats == 0;
    if (task.parts == 2 || (may_go && parts_are_better(task, shared, differing))) how = How::by_parts;
    const bool may_be_copied = plan->heavy == 0;  // light keys are not where they end
    if (may_be_copied && disorder->falls == 0)
        how = How::straight;
    else if (may_be_copied && disorder->rises == 0)
        how = How::reversed;
    if (d == 0) write_steps(*plan, differ, task, how);
}
