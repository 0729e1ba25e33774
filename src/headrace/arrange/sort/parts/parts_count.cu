// Digits of the keys of each block, and of each bucket. Where a block's keys are alike, additions to one counter take
// their turns; so a thread sorts its digits nine at a time by a network, and adds equal ones at once. (Stehle and
// Jacobsen 2017, section 4.3, "thread reduction and atomics"; the network is Floyd's of 25 exchanges, as in Knuth,
// "The Art of Computer Programming", volume 3, section 5.3.4.)
//
// Bytes moved per key of width w: w, and for each block 4 a digit where its counts are kept for parts_scatter.cu.
#include "arrange/sort/digit.cuh"
#include "arrange/sort/parts/parts.cuh"
#include "core/tile/launch.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 items = HR_ITEMS;
constexpr u32 run = 9;
constexpr u32 none = digits;  // of a key that is not there; sorts last

HR_TABLE u8 network[25][2] = {{0, 3}, {1, 7}, {2, 5}, {4, 8}, {0, 7}, {2, 4}, {3, 8}, {5, 6}, {0, 2},
                              {1, 3}, {4, 5}, {7, 8}, {1, 4}, {3, 6}, {5, 7}, {0, 1}, {2, 4}, {3, 5},
                              {6, 8}, {2, 3}, {4, 5}, {6, 7}, {1, 2}, {3, 4}, {5, 6}};

template <bool whole>
static __device__ __forceinline__ void add_alone(const u32 (&digit)[items], u32* counters) {
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (whole || digit[j] != none) atomicAdd(&counters[digit[j]], 1u);
    }
}

static __device__ __forceinline__ void add_reduced(const u32 (&digit)[items], u32* counters) {
#pragma unroll
    for (u32 first = 0; first < items; first += run) {
        u32 sorted[run];
#pragma unroll
        for (u32 k = 0; k < run; ++k) sorted[k] = first + k < items ? digit[first + k < items ? first + k : 0] : none;
#pragma unroll
        for (u32 exchange = 0; exchange < 25; ++exchange) {
            u32& low = sorted[network[exchange][0]];
            u32& high = sorted[network[exchange][1]];
            const u32 least = low < high ? low : high;
            high = low < high ? high : low;
            low = least;
        }
        u32 alike = 1;
#pragma unroll
        for (u32 k = 1; k <= run; ++k) {
            if (k < run && sorted[k < run ? k : 0] == sorted[k - 1]) {
                ++alike;
            } else {
                if (sorted[k - 1] != none) atomicAdd(&counters[sorted[k - 1]], alike);
                alike = 1;
            }
        }
    }
}

// Digits of keys from `in` on, those behind `count` none.
template <bool whole>
static __device__ __forceinline__ void count_some(const Key* in, u32 count, const Digit& digit, bool makes_codes,
                                                  bool reduces, u32* counters) {
    Key key[items] = {};
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (whole || j * threads + threadIdx.x < count) key[j] = in[j * threads + threadIdx.x];
    }
    if (makes_codes) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) key[j] = digit.rule.moved(key[j]);
    }
    u32 own[items];
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        own[j] = whole || j * threads + threadIdx.x < count ? digit.of(key[j]) : none;
    }
    if (reduces) {
        add_reduced(own, counters);
    } else {
        add_alone<whole>(own, counters);
    }
}

// The second step's buckets by what heads of keys told, with nothing to read.
static __device__ __forceinline__ void take_from_heads(const Lists& lists, u32 buckets) {
    for (u32 i = blockIdx.x * threads + threadIdx.x; i < buckets * digits; i += gridDim.x * threads) {
        cursors_of(lists, 1)[i] = lists.heads[buckets_of(lists, 1)[i / digits].digit * digits + i % digits];
    }
}

// Step `number` of the plan.
extern "C" __global__ void __launch_bounds__(threads)
    parts_count(Lists lists, u32 number, KeyRule<Key> rule, Arrays arrays) {
    tile::wait_for_launch_before();
    __shared__ u32 counters[digits];
    const Counts& counts = lists.counts[number];
    if (counts.blocks == 0) return;
    if (number == 1 && lists.plan->has_heads != 0) return take_from_heads(lists, counts.buckets);
    const Step step = lists.plan->step[number];
    const Digit digit = digit_by_number(rule, step.digit);
    const bool reduces = lists.reduces != 0;
    u32* const cursors = cursors_of(lists, number);
    for (u32 i = blockIdx.x; i < counts.blocks; i += gridDim.x) {
        const Block block = blocks_of(lists, number)[i];
        for (u32 d = threadIdx.x; d < digits; d += threads) counters[d] = 0;
        __syncthreads();
        const Key* const in = static_cast<const Key*>(arrays.keys.from(step.from)) + block.begin;
        u32 at = 0;
        for (; block.count - at >= threads * items; at += threads * items) {
            count_some<true>(in + at, threads * items, digit, number == 0, reduces, counters);
        }
        if (at < block.count) count_some<false>(in + at, block.count - at, digit, number == 0, reduces, counters);
        __syncthreads();
        for (u32 d = threadIdx.x; d < digits; d += threads) {
            const u32 count = counters[d];
            if (lists.block_counts != nullptr) lists.block_counts[static_cast<u64>(i) * digits + d] = count;
            if (count != 0) atomicAdd(&cursors[static_cast<u64>(block.bucket) * digits + d], count);
        }
        __syncthreads();
    }
}
