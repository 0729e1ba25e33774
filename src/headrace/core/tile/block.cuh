// What the warps of a block do together, through one shared word a warp. Cost: a barrier.
#pragma once
#include "core/tile/warp.cuh"

namespace headrace {
namespace tile {

// Thread 0 gets the items of all threads joined, thread 0's first.
template <class Op, u32 threads, class T>
__device__ __forceinline__ T reduce_block(T value, T (&totals)[threads / lanes]) {
    value = reduce_warp<Op>(value);
    if (lane() == 0) totals[warp()] = value;
    __syncthreads();
    if (warp() == 0) value = reduce_warp<Op>(lane() < threads / lanes ? totals[lane()] : Op::identity());
    return value;
}

}  // namespace tile
}  // namespace headrace
