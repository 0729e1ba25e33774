// Sorts leaf buckets digit by digit, each by one block: buckets of an MSD sort, or all of a small array (Stehle and
// Jacobsen 2017, section 4.4).
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v, whatever the number of digits.
#include "arrange/sort/gpu/common/block_sort.cuh"
#include "arrange/sort/gpu/msd/buckets.hpp"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

// Sorts a bucket from its buffer to the target. Keys in the source buffer are not codes yet.
HR_FN void sort_leaf(const Leaf& leaf, const KeyRule<Key>& rule, const SortArrays& arrays, u32 writes_keys,
                     const BlockStorage& staging) {
    const PassStep step = {0, leaf.from(), leaf.to(), 0};
    const Digit digit = digit_by_number(rule, 0);
    const bool is_given = step.from == BufferRole::source;
    const Key* const in = static_cast<const Key*>(arrays.keys.from(step.from)) + leaf.begin;
    const PartRows own = PartRows::of(leaf.count);
    Key key[items] = {};
    u32 row[items / 2] = {};
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        set_half(row, j, own.place(j));
        if (!own.has(j) || own.place(j) >= leaf.count) continue;
        key[j] = in[own.place(j)];
        if (is_given) key[j] = digit.rule.moved(key[j]);
    }
    sort_block(key, row, staging, rule, leaf.count, leaf.bits());
    __syncthreads();  // in place: all are read
    if (writes_keys != 0 || leaf.are_light()) {
        Key* const out = static_cast<Key*>(arrays.keys.to(step.to)) + leaf.begin;
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (own.has(j) && own.place(j) < leaf.count) out[own.place(j)] = digit.rule.given(key[j]);
        }
    }
    if constexpr (with_values) {
#pragma unroll
        for (u32 j = 0; j < items; ++j) {
            if (own.has(j)) staging.rows[own.place(j)] = static_cast<u16>(half_of(row, j));
        }
        __syncthreads();
        const Fetch fetch = {staging.rows, staging.keys, leaf.begin, leaf.count};
#pragma unroll 1
        for (u32 c = 0; c < arrays.columns; ++c) fetch_column(arrays.column[c], step, fetch);
    }
    __syncthreads();
}

// Dynamic shared memory: a BlockStorage.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    block_radix_sort(List list, KeyRule<Key> rule, SortArrays arrays, u32 writes_keys) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    const BlockStorage staging = BlockStorage::in(memory);
    if (list.leaves == nullptr) return sort_leaf(list.only, rule, arrays, writes_keys, staging);
    const u32 number = *list.number;
    for (u32 i = blockIdx.x; i < number; i += gridDim.x) {
        sort_leaf(list.leaves[list.first + i * list.stride], rule, arrays, writes_keys, staging);
    }
}
