// All steps of a sort by parts that are left, in one launch whose blocks meet: each counts, assigns and scatters as
// launches of its own would, with a meeting behind each. Most sorts have nothing left here, and then it is one launch
// in vain in place of three a step; a step that there is takes up to twice the launches' time, since a multiprocessor
// has one block.
//
// What is written in front of a meeting is read behind it by plain loads, which may not be those of memory that nobody
// writes (ld.global.nc).
#pragma once
#include "arrange/sort/few/meeting.cuh"

namespace headrace {

constexpr u32 count_items = items < 16 ? items : 16;  // enough on their way, and half the code of a tile's

}  // namespace headrace

// Behind the threads that they are made for.
#include "arrange/sort/parts/assign_buckets.cuh"
#include "arrange/sort/parts/count_blocks.cuh"

namespace headrace {

// From step `number` on, which is not the first; `scatter(number)` does a step's last part. `memory`: shared, whatever
// is in it.
template <class Scatter>
static __device__ __forceinline__ void do_rest(u32 number, const Counting& task, tile::Counters* meeting, uint4* memory,
                                               const Scatter& scatter) {
    const Lists& lists = task.lists;
    if (lists.counts[number].blocks == 0) return;
    Blocks blocks(meeting);
#pragma unroll 1
    for (; lists.counts[number].blocks != 0; ++number) {
        count_blocks(task, number, reinterpret_cast<u32*>(memory));
        blocks.meet();
        assign_buckets(lists, number, key_bits, *reinterpret_cast<Assigning*>(memory));
        blocks.meet();
        scatter(number);
        blocks.meet();
    }
    blocks.end();
}

}  // namespace headrace
