// Defines the types of a program's tables, and the rows of a batch, one per thread.
#pragma once
#include "gpu/containers/slab_list.cuh"

namespace headrace {
namespace slab {

constexpr u32 threads = HR_THREADS;
using L = Layout<HR_KEY_WIDTH, HR_VALUE_WIDTH>;
using Key = L::Key;
using Value = L::Value;

__device__ __forceinline__ u64 thread_row() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

__device__ __forceinline__ Key key_of_row(const Key* keys, u64 row, u64 count) {
    return row < count ? keys[row] : Key{0};
}

// Adds up a warp's flags, and adds the sum to a counter.
__device__ __forceinline__ void count_flags(u64* counter, bool flag) {
    const u32 lanes = __ballot_sync(tile::all_lanes, flag);
    if (tile::lane() == 0 && lanes != 0) atomicAdd(counter, static_cast<u64>(__popc(lanes)));
}

}  // namespace slab
}  // namespace headrace
