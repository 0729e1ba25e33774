// Chooses splitters of keys from a sample, so that MSD's first pass divides the keys into nearly equal parts. Floats of
// a normal distribution, whose highest bits hardly vary, then need no more passes than uniform words. The range of a
// part is narrow, and keys are nearly uniform in it. (Samplesort: Frazer and McKellar 1970.)
//
// Every 16th key of the sorted sample is a splitter. The sample is sorted by ranks: each warp compares 32 keys with a
// share of the sample. If keys of the sample share values or digits of a part too often, no splitters are used.
//
// Bytes moved per key of width w: w if splitters are used.
#include "arrange/sort/gpu/common/key_range.hpp"
#include "arrange/sort/gpu/common/plan_steps.cuh"
#include "arrange/sort/gpu/common/splitter_tree.cuh"
#include "arrange/sort/gpu/lsd/order_check.cuh"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

constexpr u32 part_samples = 16;  // for each splitter
constexpr u32 sampled = part_samples * digits;
constexpr u32 warps = threads / tile::lanes;
static_assert(!with_equals && sizeof(Key) == 8 && threads >= digits && sampled % tile::lanes == 0);

HR_FN bool is_decided(const DevicePlan* plan) {
    return plan->heavy != 0 || plan->repeats != 0 || plan->counts_prefixes != 0;
}

// Sorts the sample; each block ranks 32 of its keys. Also finds whether the sample is in order. Dynamic shared memory:
// a word for each key of the sample.
extern "C" __global__ void __launch_bounds__(threads)
    rank_sample(const Key* keys, u64 count, KeyRule<Key> rule, u64* sorted, DevicePlan* plan) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(Key, sample);
    __shared__ u32 rank[tile::lanes];
    if (is_decided(plan)) return;
    for (u32 i = threadIdx.x; i < sampled; i += threads) sample[i] = rule.code(keys[count * i / sampled]);
    if (threadIdx.x < tile::lanes) rank[threadIdx.x] = 0;
    __syncthreads();
    const u32 own = blockIdx.x * tile::lanes + tile::lane();
    const Key key = sample[own];
    u32 lower = 0;
#pragma unroll 8
    for (u32 i = tile::warp(); i < sampled; i += warps) {
        const Key other = sample[i];
        lower += other < key || (other == key && i < own) ? 1 : 0;
    }
    atomicAdd(&rank[tile::lane()], lower);
    __syncthreads();
    if (tile::warp() != 0) return;
    sorted[rank[tile::lane()]] = key;
    if (own + 1 == sampled) return;
    if (sample[own + 1] < key) tile::store_relaxed(&plan->sample_falls, 1u);
    if (sample[own + 1] > key) tile::store_relaxed(&plan->sample_rises, 1u);
}

// Sums over the parts of the sample.
struct SampleSums {
    u32 alike;      // pairs of neighbours in a run of keys that share a digit of their part
    u32 equal;      // the same for equal keys
    u32 differing;  // digits in which keys differ, as a bit mask
};

// Counts pairs in one part of the sorted sample.
HR_FN SampleSums sums_of(const u64* part, u64 first, const KeyRange& range) {
    SampleSums sums = {};
    u32 run = 0, equal_run = 0, digit = 0;
    u64 before = 0;
    for (u32 k = 0; k < part_samples; ++k) {
        const u64 code = part[k];
        const u32 own = static_cast<u32>((((code - range.low) << range.zeros) >> 32) * range.scale >> 32);
        run = k != 0 && own == digit ? run + 1 : 0;
        equal_run = k != 0 && code == before ? equal_run + 1 : 0;
        sums.alike += run;
        sums.equal += equal_run;
        digit = own;
        before = code;
        for (u32 d = 0; d < key_digits; ++d) {
            if (((code ^ first) >> d * bits & (digits - 1)) != 0) sums.differing |= 1u << d;
        }
    }
    return sums;
}

// Whether an MSD sort by splitters is cheaper than LSD.
HR_FN bool is_worth_it(const SampleSums& sums, const PlanInputs& task) {
    constexpr float pairs = 0.5f * part_samples * (part_samples - 1);  // of a part; one a digit if keys are uniform
    if (are_repeated(sums.equal, pairs_among(sampled), task.count, task)) return false;
    float splits = 0;
    for (float left = static_cast<float>(task.count) / digits; left > static_cast<float>(task.max_leaf_keys);
         left /= digits)
        ++splits;
    const float msd = msd_cost(task, splits, false, static_cast<float>(sums.alike) / pairs);
    return is_cheaper(costs.digits + msd, costs.digits + lsd_cost(task, static_cast<u32>(__popc(sums.differing))));
}

// Chooses the splitters, and whether they are used. One block.
extern "C" __global__ void __launch_bounds__(threads)
    choose_splitters(const u64* sorted, PlanInputs task, u64* splitters, DevicePlan* plan) {
    tile::wait_for_launch_before();
    __shared__ SampleSums all;
    if (is_decided(plan) || plan->sample_falls == 0 || plan->sample_rises == 0) return;
    if (threadIdx.x == 0) all = {};
    __syncthreads();
    const u32 d = threadIdx.x;
    if (d < digits) {
        const u64 low = sorted[d * part_samples];
        const u64 end = d + 1 < digits ? sorted[(d + 1) * part_samples] : sorted[sampled - 1];
        const SampleSums own = sums_of(sorted + d * part_samples, sorted[0], KeyRange::of(low, end - low, digits));
        atomicAdd(&all.alike, own.alike);
        atomicAdd(&all.equal, own.equal);
        atomicOr(&all.differing, own.differing);
        splitters[d] = low;
        if (d + 1 == digits) splitters[digits] = end;
    }
    __syncthreads();
    if (threadIdx.x != 0 || !is_worth_it(all, task)) return;
    write_range_passes(*plan, Division::splitters);
}

constexpr u32 replicas = threads / digits >= 4 ? 4 : 1;

// Counts the keys of each digit into `totals`, and lowers and raises the ends of the splitters to those of all keys.
extern "C" __global__ void __launch_bounds__(threads)
    count_by_splitters(const Key* keys, u64 count, KeyRule<Key> rule, u64* splitters, u64* totals,
                       const DevicePlan* plan) {
    tile::wait_for_launch_before();
    __shared__ SplitterTree tree;
    __shared__ u32 counters[replicas][digits];
    __shared__ u64 least, most;
    if (plan->division != Division::splitters) return;
    tree.load(splitters);
    for (u32 i = threadIdx.x; i < replicas * digits; i += threads) counters[i / digits][i % digits] = 0;
    if (threadIdx.x == 0) least = ~u64{0}, most = 0;
    __syncthreads();
    const Input input(keys, count, rule);
    u32* const own = counters[tile::warp() % replicas];
    Key low = ~Key{0}, high = 0;
    for (u64 at = blockIdx.x * u64{tile_keys}; at < count; at += gridDim.x * u64{tile_keys}) {
        Codes codes;
        codes.load(input, at);
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
#pragma unroll
            for (u32 k = 0; k < per; ++k) {
                if (at + tile::row_begin<Key, rows>(row) + k >= count) continue;
                const Key code = codes.some.row[row].item[k];
                low = code < low ? code : low;
                high = code > high ? code : high;
                atomicAdd(&own[tree.digit_of(code)], 1u);
            }
        }
    }
    if (low <= high) {
        atomicMin(&least, u64{low});
        atomicMax(&most, u64{high});
    }
    __syncthreads();
    for (u32 d = threadIdx.x; d < digits; d += threads) {
        u32 sum = 0;
        for (u32 r = 0; r < replicas; ++r) sum += counters[r][d];
        if (sum != 0) atomicAdd(&totals[(key_digits - 1) * digits + d], u64{sum});
    }
    if (threadIdx.x != 0 || least > most) return;
    atomicMin(&splitters[0], least);
    atomicMax(&splitters[digits], most);
}
