// Steps of a sort by parts in one launch whose blocks meet, those that are left or all: each counts, assigns and
// scatters as launches of its own would, with a meeting behind each. Where nothing is left, or the plan goes another
// way, it is one launch in vain in place of three a step; a step that there is takes up to twice the launches' time,
// since a multiprocessor has one block.
//
// What is written in front of a meeting is read behind it by plain loads, which may not be those of memory that nobody
// writes (ld.global.nc).
#pragma once
#include "arrange/sort/gpu/common/grid_barrier.cuh"

namespace headrace {

constexpr u32 count_items = items < 16 ? items : 16;  // enough on their way, and half the code of a tile's

}  // namespace headrace

// Behind the threads that they are made for.
#include "arrange/sort/gpu/msd/assign_buckets.cuh"
#include "arrange/sort/gpu/msd/count_blocks.cuh"

namespace headrace {

// What the first step wants, which counts nothing.
struct FirstPass {
    const u64* totals;  // of its digits
    u64 count;          // of all keys
    u64 states_bytes;   // of look-back, a multiple of 16
};

struct Tail {
    const CountTask& counting;
    const FirstPass& first;
    GridBarrier& barrier;
    uint4* memory;  // shared, whatever is in it
};

// From step `number` on, which has blocks or, where `has_first`, is the first; `scatter(number)` does a step's last
// part.
template <bool has_first, class Scatter>
static __device__ __forceinline__ void run_tail(u32 number, const Tail& tail, const Scatter& scatter) {
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
