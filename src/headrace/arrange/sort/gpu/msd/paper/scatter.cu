// Scatters the keys of each block, and their columns, to the sub-buckets of their digits, in no order within one. This
// is the pass of the paper (Stehle and Jacobsen 2017, section 4.4). A block reserves its place in each sub-bucket by
// one addition, arranges its keys by digit in shared memory, and writes runs. Values then reuse the same shared memory.
//
// The block's counts were kept, so one addition gives each key's place. If a digit has more than half of the block's
// keys, a thread looks two keys ahead and reserves up to three places at once. Without counts: scatter_reserve.cu.
//
// Bytes moved per key of width w, with values of width v: 2 w + 2 v.
#include "arrange/sort/gpu/common/digit.cuh"
#define HR_PLACES by_look_back
#include "arrange/sort/gpu/common/arrays.cuh"
#include "arrange/sort/gpu/msd/buckets.hpp"
#include "gpu/block/dependent_launch.cuh"

using namespace headrace;

struct DigitRuns {
    u32 next[digits];  // place of the block's next key of a digit in its tile
    u32 to[digits];    // target of the tile's place 0 if it had this digit
    u32 totals[warps];
};

// Computes exclusive sums of the digits' counts, and reserves space in the sub-buckets.
HR_FN void reserve_runs(const Lists& lists, const KeyBlock& block, u32 count, DigitRuns& runs) {
    const u32 d = threadIdx.x;
    const u32 upto = tile::scan_warp<Sum<u32>>(count);
    const u32 before = tile::scan_warps<Sum<u32>, threads>(tile::shuffle(upto, tile::lanes - 1), runs.totals).before;
    if (d >= digits) return;
    const u32 start = before + upto - count;
    runs.next[d] = start;
    const u32 reserved = count == 0 ? 0 : atomicAdd(&lists.cursors[static_cast<u64>(block.bucket) * digits + d], count);
    runs.to[d] = reserved - start;
}

HR_FN u32 place_in_block(u32 j) { return j * threads + threadIdx.x; }

// Finds the places of a thread's keys in the tile, up to three equal ones at once.
HR_FN void place_ahead(const Key (&key)[items], const Digit& digit, u32 count, DigitRuns& runs, u32 (&place)[items]) {
    u32 more = 0, at = 0;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (place_in_block(j) >= count) continue;
        const u32 own = digit.of(key[j]);
        if (more != 0) {
            --more;
            ++at;
        } else {
            if (j + 1 < items && place_in_block(j + 1) < count && digit.of(key[j + 1 < items ? j + 1 : 0]) == own)
                more = 1;
            if (more == 1 && j + 2 < items && place_in_block(j + 2) < count &&
                digit.of(key[j + 2 < items ? j + 2 : 0]) == own) {
                more = 2;
            }
            at = atomicAdd(&runs.next[own], more + 1);
        }
        place[j] = at;
    }
}

HR_FN void place_keys(const Key (&key)[items], const Lists& lists, const KeyBlock& block, u32 i, const Digit& digit,
                      DigitRuns& runs, u32 (&place)[items]) {
    const u32 d = threadIdx.x;
    const u32 count = d < digits ? lists.block_counts[static_cast<u64>(i) * digits + d] : 0;
    reserve_runs(lists, block, count, runs);
    if (__syncthreads_or(lists.looks_ahead != 0 && count > block.count / 2) != 0) {
        return place_ahead(key, digit, block.count, runs, place);
    }
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (place_in_block(j) < block.count) place[j] = atomicAdd(&runs.next[digit.of(key[j])], 1u);
    }
}

// Scatters a column, or one half of 16-byte items, which are `stride` apart.
template <class Value>
HR_FN void scatter_values(const void* from, void* to, const KeyBlock& block, Value* staging, const u32 (&place)[items],
                          const u32 (&target)[items], u32 stride) {
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (place_in_block(j) >= block.count) continue;
        const u32 at = block.begin + place_in_block(j);
        staging[place[j]] =
            from == nullptr ? static_cast<Value>(at) : static_cast<const Value*>(from)[u64{at} * stride];
    }
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (place_in_block(j) < block.count)
            static_cast<Value*>(to)[u64{target[j]} * stride] = staging[place_in_block(j)];
    }
}

HR_FN void scatter_column(const MovedColumn& moved, const PassStep& step, const KeyBlock& block, void* staging,
                          const u32 (&place)[items], const u32 (&target)[items]) {
    const void* const from = moved.from(step.from);
    void* const to = moved.to(step.to);
    if (moved.width == 1) scatter_values(from, to, block, static_cast<u8*>(staging), place, target, 1);
    if (moved.width == 2) scatter_values(from, to, block, static_cast<u16*>(staging), place, target, 1);
    if (moved.width == 4) scatter_values(from, to, block, static_cast<u32*>(staging), place, target, 1);
    if (moved.width == 8) scatter_values(from, to, block, static_cast<u64*>(staging), place, target, 1);
    for (u32 half = 0; half < 2 && moved.width == 16; ++half) {
        const u64* const own = static_cast<const u64*>(from) + half;
        scatter_values(own, static_cast<u64*>(to) + half, block, static_cast<u64*>(staging), place, target, 2);
    }
}

HR_FN void scatter_block(const Lists& lists, u32 number, u32 i, const Digit& digit, const SortArrays& arrays,
                         void* memory, DigitRuns& runs) {
    const PassStep step = lists.plan->step[number];
    const KeyBlock block = blocks_of(lists, number)[i];
    const Key* const in = static_cast<const Key*>(arrays.keys.from(step.from)) + block.begin;
    Key key[items] = {};
    u32 place[items] = {}, target[items] = {};
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (place_in_block(j) >= block.count) continue;
        key[j] = in[place_in_block(j)];
        if (number == 0) key[j] = digit.rule.moved(key[j]);
    }
    place_keys(key, lists, block, i, digit, runs, place);
    Key* const staging = static_cast<Key*>(memory);
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (place_in_block(j) < block.count) staging[place[j]] = key[j];
    }
    __syncthreads();
    Key* const out = static_cast<Key*>(arrays.keys.to(step.to));
    const bool is_last = number + 1 == lists.plan->steps;
#pragma unroll
    for (u32 j = 0; j < items; ++j) {
        if (place_in_block(j) >= block.count) continue;
        const Key moved = staging[place_in_block(j)];
        target[j] = runs.to[digit.of(moved)] + place_in_block(j);
        out[target[j]] = is_last ? digit.rule.given(moved) : moved;
    }
    if constexpr (with_values) {
#pragma unroll 1
        for (u32 c = 0; c < arrays.columns; ++c) scatter_column(arrays.column[c], step, block, memory, place, target);
    }
    __syncthreads();
}

// Dynamic shared memory: the keys of a tile, or its values if they are wider, up to 8 bytes.
extern "C" __global__ void __launch_bounds__(threads, HR_BLOCKS)
    scatter(Lists lists, u32 number, KeyRule<Key> rule, SortArrays arrays) {
    tile::wait_for_launch_before();
    HR_DYNAMIC_SHARED(uint4, memory);
    __shared__ DigitRuns runs;
    const u32 blocks = lists.counts[number].blocks;
    if (blocks == 0) return;
    const Digit digit = digit_by_number(rule, lists.plan->step[number].digit);
    for (u32 i = blockIdx.x; i < blocks; i += gridDim.x) scatter_block(lists, number, i, digit, arrays, memory, runs);
}
