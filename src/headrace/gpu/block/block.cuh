// What the warps of a block do together, through one shared word a warp. Cost: a barrier or two.
#pragma once
#include "gpu/block/warp.cuh"

namespace headrace {
namespace tile {

template <class T>
struct Before {
    T before;  // the items of the warps before this one, joined
    T total;   // of all warps
};

// Each warp's total, joined in the order of the warps. `totals` is free again after the caller's next barrier.
template <class Op, u32 threads, class T>
__device__ __forceinline__ Before<T> scan_warps(T warp_total, T (&totals)[threads / lanes]) {
    static_assert(threads % lanes == 0 && threads <= 1024);
    if (lane() == 0) totals[warp()] = warp_total;
    __syncthreads();
    const T mine = lane() < threads / lanes ? totals[lane()] : Op::identity();
    const T joined = scan_warp<Op>(mine);
    const T before = shuffle(joined, warp() == 0 ? 0 : warp() - 1);
    return {warp() == 0 ? Op::identity() : before, shuffle(joined, threads / lanes - 1)};
}

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
