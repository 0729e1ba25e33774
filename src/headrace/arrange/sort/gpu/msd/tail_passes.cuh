// Runs several passes of the MSD sort in one launch, with grid barriers: the remaining passes or all. Each counts,
// assigns and scatters as separate launches would. If there is nothing to do, that is one idle launch in place of
// three a pass. A pass takes up to twice the time of its launches, since a multiprocessor has one block.
//
// Data that is written before a barrier must be read after it by plain loads, not by those of read-only memory
// (ld.global.nc).
#pragma once
#include "arrange/sort/gpu/common/grid_barrier.cuh"

namespace headrace {

constexpr u32 count_items = items < 16 ? items : 16;  // enough loads in flight, and half the code of a tile's

}  // namespace headrace

// After the `threads` that they use.
#include "arrange/sort/gpu/msd/assign_buckets.cuh"
#include "arrange/sort/gpu/msd/count_blocks.cuh"

namespace headrace {

struct Tail {
    const CountTask& counting;
    const FirstPass& first;
    GridBarrier& barrier;
    uint4* memory;  // shared; its contents do not matter
};

// Runs passes from `number` on. That one has blocks or, if `has_first`, may be the first. `scatter(number)` is the
// last part of a pass.
template <bool has_first, class Scatter>
HR_FN void run_tail(u32 number, const Tail& tail, const Scatter& scatter) {
    const Lists& lists = tail.counting.lists;
    Assigning& shared = *reinterpret_cast<Assigning*>(tail.memory);
#pragma unroll 1
    do {
        if (has_first && number == 0) {
            begin_and_assign(lists, static_cast<u32>(tail.first.count), tail.first.totals, key_bits, shared);
        } else {
            count_blocks(tail.counting, number, reinterpret_cast<u32*>(tail.memory));
            tail.barrier.arrive_and_wait();
            assign_buckets(lists, number, key_bits, shared);
        }
        tail.barrier.arrive_and_wait();
        scatter(number);
        tail.barrier.arrive_and_wait();
    } while (lists.counts[++number].blocks != 0);
    tail.barrier.end();
}

}  // namespace headrace
