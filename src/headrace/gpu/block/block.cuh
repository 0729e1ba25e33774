// Scans and reductions over the warps of a block, through one shared word a warp. They cost one or two barriers.
#pragma once
#include "gpu/block/warp.cuh"

namespace headrace::tile {

template <class T>
struct WarpPrefix {
    T before;  // the totals of the preceding warps, joined
    T total;   // the totals of all warps, joined
};

// Joins the warps' totals in the order of the warps. `totals` may be reused after the caller's next barrier.
template <class Op, u32 threads, class T>
HR_FN WarpPrefix<T> scan_warps(T warp_total, T (&totals)[threads / lanes]) {
    static_assert(threads % lanes == 0 && threads <= 1024);
    if (lane() == 0) totals[warp()] = warp_total;
    __syncthreads();
    const T mine = lane() < threads / lanes ? totals[lane()] : Op::identity();
    const T joined = scan_warp<Op>(mine);
    const T before = shuffle(joined, warp() == 0 ? 0 : warp() - 1);
    return {warp() == 0 ? Op::identity() : before, shuffle(joined, threads / lanes - 1)};
}

// Joins the items of all threads in thread order. Only thread 0 gets the result.
template <class Op, u32 threads, class T>
HR_FN T reduce_block(T value, T (&totals)[threads / lanes]) {
    value = reduce_warp<Op>(value);
    if (lane() == 0) totals[warp()] = value;
    __syncthreads();
    if (warp() == 0) value = reduce_warp<Op>(lane() < threads / lanes ? totals[lane()] : Op::identity());
    return value;
}

}  // namespace headrace::tile
