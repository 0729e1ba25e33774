// Chooses the passes of a sort from the counts of all digits, by one block. Digits that all keys share need no pass;
// keys in order are copied; MSD is chosen if it moves less data. Also computes the first position of each digit
// value.
#pragma once
#include "arrange/sort/gpu/common/plan_steps.cuh"
#include "gpu/block/block.cuh"

namespace headrace {

constexpr u32 plan_threads = HR_PLAN_THREADS;
constexpr u32 plan_warps = plan_threads / tile::lanes;
static_assert(plan_threads >= digits && digits % 4 == 0 && key_digits <= max_passes);

struct PlanShared {
    u32 counts[key_digits][digits];
    u32 alike;       // digits that all keys share, as a bit mask
    u32 highest[3];  // the highest digits that differ
    float sums[plan_warps];
};

// Estimates three shares. The first is keys in buckets too large for one block after the first digit. The second is the
// same after the second digit, as if the two were independent. The third is the probability that two keys have the same
// third digit.
HR_FN void estimate_splits(const PlanInputs& task, PlanShared& shared, float (&share)[3]) {
    const float all = static_cast<float>(task.count), most = static_cast<float>(task.max_leaf_keys);
    const u32 d = threadIdx.x;
    const u32* const second = shared.counts[shared.highest[1]];
    float found[3] = {}, both_of[4] = {};  // four independent sums
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
        for (u32 w = 0; w < plan_warps; ++w) share[round] += shared.sums[w] / all;
    }
}

// Whether the estimated cost of MSD is lower.
HR_FN bool msd_is_cheaper(const PlanInputs& task, PlanShared& shared, u32 differing) {
    if (differing < 3) return false;
    float share[3];
    estimate_splits(task, shared, share);
    if (task.msd_use == MsdUse::if_one_pass && share[0] > 0) return false;
    const float splits = share[0] + share[1] * static_cast<float>(differing - 2);
    return is_cheaper(msd_cost(task, splits, false, share[2] * digits), lsd_cost(task, differing));
}

// Counts of one digit for each lane of a warp; all loads are in flight together.
constexpr u32 each = (digits + tile::lanes - 1) / tile::lanes;

HR_FN void load_counts(u32 digit, const u64* totals, u64 (&count)[each]) {
#pragma unroll
    for (u32 i = 0; i < each; ++i) {
        const u32 value = i * tile::lanes + tile::lane();
        count[i] = digit < key_digits && value < digits ? totals[digit * digits + value] : 0;
    }
}

// Computes the first position of each value of a digit.
HR_FN void start_digit(u32 digit, u64 all, const u64 (&count)[each], u64* starts, PlanShared& shared) {
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

}  // namespace headrace
