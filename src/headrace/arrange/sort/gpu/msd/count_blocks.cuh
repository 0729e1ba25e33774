// Counts the keys of each digit in each block of a pass, and in each bucket. If a block's keys are alike, additions to
// one counter serialise. So a thread sorts its digits nine at a time by a network, and adds equal ones at once. (Stehle
// and Jacobsen 2017, section 4.3, "thread reduction and atomics". Floyd's network of 25 exchanges: Knuth, "The Art of
// Computer Programming", volume 3, section 5.3.4.) The includer defines `threads` and `count_items`, the keys that a
// thread loads at a time.
//
// Bytes moved per key of width w: w, and for each block 4 a digit if its counts are kept for paper/scatter.cu.
#pragma once
#include "arrange/sort/gpu/common/digit.cuh"
#include "arrange/sort/gpu/common/range_digit.cuh"
#include "arrange/sort/gpu/msd/buckets.hpp"

namespace headrace {

constexpr u32 at_once = 9;
constexpr u32 not_there = digits;  // digit of a missing key; sorts last

HR_TABLE u8 network[25][2] = {{0, 3}, {1, 7}, {2, 5}, {4, 8}, {0, 7}, {2, 4}, {3, 8}, {5, 6}, {0, 2},
                              {1, 3}, {4, 5}, {7, 8}, {1, 4}, {3, 6}, {5, 7}, {0, 1}, {2, 4}, {3, 5},
                              {6, 8}, {2, 3}, {4, 5}, {6, 7}, {1, 2}, {3, 4}, {5, 6}};

template <bool whole>
HR_FN void add_alone(const u32 (&digit)[count_items], u32* counters) {
#pragma unroll
    for (u32 j = 0; j < count_items; ++j) {
        if (whole || digit[j] != not_there) atomicAdd(&counters[digit[j]], 1u);
    }
}

HR_FN void add_reduced(const u32 (&digit)[count_items], u32* counters) {
#pragma unroll
    for (u32 first = 0; first < count_items; first += at_once) {
        u32 sorted[at_once];
#pragma unroll
        for (u32 k = 0; k < at_once; ++k)
            sorted[k] = first + k < count_items ? digit[first + k < count_items ? first + k : 0] : not_there;
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
        for (u32 k = 1; k <= at_once; ++k) {
            if (k < at_once && sorted[k < at_once ? k : 0] == sorted[k - 1]) {
                ++alike;
            } else {
                if (sorted[k - 1] != not_there) atomicAdd(&counters[sorted[k - 1]], alike);
                alike = 1;
            }
        }
    }
}

struct CountTask {
    const Lists& lists;
    const KeyRule<Key>& rule;
    const SortArrays& arrays;
    bool makes_codes;  // whether keys become codes, in the first pass
    bool reduces;      // whether a thread adds equal digits at once

    // Converts a key as given to its form in passes.
    HR_MEMBER Key moved(Key key) const { return with_equals ? key : rule.code(key); }
};

// Loads digits of keys from `in` on; those after `count` are missing. `digit_of`: the digit of a key in passes.
template <bool whole, class DigitOf>
HR_FN void count_some(const Key* in, u32 count, const DigitOf& digit_of, const CountTask& task, u32* counters) {
    Key key[count_items] = {};
#pragma unroll
    for (u32 j = 0; j < count_items; ++j) {
        if (whole || j * threads + threadIdx.x < count) key[j] = in[j * threads + threadIdx.x];
    }
    if (task.makes_codes) {
#pragma unroll
        for (u32 j = 0; j < count_items; ++j) key[j] = task.moved(key[j]);
    }
    u32 own[count_items];
#pragma unroll
    for (u32 j = 0; j < count_items; ++j) {
        own[j] = whole || j * threads + threadIdx.x < count ? digit_of(key[j]) : not_there;
    }
    if (task.reduces) {
        add_reduced(own, counters);
    } else {
        add_alone<whole>(own, counters);
    }
}

template <class DigitOf>
HR_FN void count_block(const Key* in, u32 count, const DigitOf& digit_of, const CountTask& task, u32* counters) {
    u32 at = 0;
    for (; count - at >= threads * count_items; at += threads * count_items) {
        count_some<true>(in + at, threads * count_items, digit_of, task, counters);
    }
    if (at < count) count_some<false>(in + at, count - at, digit_of, task, counters);
}

// Counts pass `number` of the plan. `counters`: shared memory, a word a digit.
HR_FN void count_blocks(const CountTask& task, u32 number, u32* counters) {
    const Lists& lists = task.lists;
    const ListLengths& counts = lists.counts[number];
    const PassStep step = lists.plan->step[number];
    const Digit digit = digit_by_number(task.rule, step.digit);
    u32* const cursors = cursors_of(lists, number);
    const bool by_ranges = has_ranges(*lists.plan);
    for (u32 i = blockIdx.x; i < counts.blocks; i += gridDim.x) {
        const KeyBlock block = blocks_of(lists, number)[i];
        for (u32 d = threadIdx.x; d < digits; d += threads) counters[d] = 0;
        __syncthreads();
        const Key* const in = static_cast<const Key*>(task.arrays.keys.from(step.from)) + block.begin;
        if (by_ranges) {
            count_block(in, block.count, RangeDigit(buckets_of(lists, number)[block.bucket].range), task, counters);
        } else {
            count_block(in, block.count, [&](Key key) { return digit.of(key); }, task, counters);
        }
        __syncthreads();
        for (u32 d = threadIdx.x; d < digits; d += threads) {
            const u32 count = counters[d];
            if (lists.block_counts != nullptr) lists.block_counts[static_cast<u64>(i) * digits + d] = count;
            if (count != 0) atomicAdd(&cursors[static_cast<u64>(block.bucket) * digits + d], count);
        }
        __syncthreads();
    }
}

}  // namespace headrace
