// What is to be done, from the counts of all digits: steps for the digits that differ, and for no others; a straight
// copy where keys are in order; from the highest digit down where that moves less. Also where each digit's keys begin.
// A block; nothing is moved.
#include "arrange/sort/digit.cuh"
#include "arrange/sort/plan.cuh"
#include "core/tile/block.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 warps = threads / tile::lanes;
static_assert(threads >= digits && key_digits <= most_steps);

struct Case {
    u64 count;
    u32 in_place;  // then the number of steps must be even
    u32 parts;     // whether the sort may go by parts, from the highest digit down: 0 no, 1 where it moves less, 2 yes
    u32 most_in_one;  // keys that one block sorts alone
    u32 value_bytes;  // of what goes with a key
};

struct PlanShared {
    u64 totals[warps];
    u32 counts[2][digits];  // of the two highest digits that differ
    float sums[warps];
};

// Keys, of all, that are in parts larger than a block sorts: behind the first digit, and behind the second, were the
// two independent.
static __device__ __forceinline__ void large_shares(const Case& task, PlanShared& shared, float (&share)[2]) {
    const float all = static_cast<float>(task.count), most = static_cast<float>(task.most_in_one);
    const u32 d = threadIdx.x;
    float one = 0, two = 0;
    if (d < digits) {
        const float own = static_cast<float>(shared.counts[0][d]);
        if (own > most) one = own;
        for (u32 e = 0; e < digits; ++e) {
            const float both = own * (static_cast<float>(shared.counts[1][e]) / all);
            if (both > most) two += both;
        }
    }
    for (u32 distance = 16; distance != 0; distance /= 2) {
        one += tile::shuffle_down(one, distance);
        two += tile::shuffle_down(two, distance);
    }
    share[0] = share[1] = 0;
    for (u32 round = 0; round < 2; ++round) {
        __syncthreads();
        if (tile::lane() == 0) shared.sums[tile::warp()] = round == 0 ? one : two;
        __syncthreads();
        for (u32 w = 0; w < warps; ++w) share[round] += shared.sums[w] / all;
    }
}

// Whether a sort by parts moves less: keys are read once more for each digit they are counted by, and parts that a
// block sorts are read and written once, whatever digits they have left.
static __device__ __forceinline__ bool parts_move_less(const Case& task, PlanShared& shared, u32 differing) {
    if (differing < 3) return false;
    float share[2];
    large_shares(task, shared, share);
    const float left = static_cast<float>(differing - 2), values = static_cast<float>(task.value_bytes) / sizeof(Key);
    const float split = share[0] + share[1] * left;  // times that a key is split again
    const float by_parts = 1 + 2 + 3 * split + 2 + values * (2 + 2 * split + 2);
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

// `totals`, `starts`: for each digit and value.
extern "C" __global__ void __launch_bounds__(threads)
    sort_plan(const u64* totals, const Disorder* disorder, Case task, u64* starts, Plan* plan) {
    __shared__ PlanShared shared;
    u32 differ = 0, differing = 0;
    const u32 d = threadIdx.x;
    for (u32 digit = key_digits; digit-- != 0;) {
        const u64 own = d < digits ? totals[digit * digits + d] : 0;
        const u64 upto = tile::scan_warp<Sum<u64>>(own);
        const auto warps_before =
            tile::scan_warps<Sum<u64>, threads>(tile::shuffle(upto, tile::lanes - 1), shared.totals);
        if (d < digits) starts[digit * digits + d] = warps_before.before + upto - own;
        const bool is_alike = __syncthreads_or(own == task.count) != 0;
        if (is_alike) continue;
        if (differing < 2 && d < digits) shared.counts[differing][d] = static_cast<u32>(own);
        differ |= 1u << digit;
        ++differing;
    }
    __syncthreads();
    How how = How::by_digits;
    if (task.parts == 2 || (task.parts == 1 && parts_move_less(task, shared, differing))) how = How::by_parts;
    if (disorder->falls == 0)
        how = How::straight;
    else if (disorder->rises == 0)
        how = How::reversed;
    if (d == 0) write_steps(*plan, differ, task, how);
}
