// The items that a block handles in several turns, one a thread in each turn, so that a warp accesses adjacent items.
#pragma once
#include "gpu/block/warp.cuh"

namespace headrace::tile {

// With 256 threads and 4 turns, thread 3 of block 2 has the items 2051, 2307, 2563 and 2819.
template <u32 threads, u32 turns>
HR_FN u64 item_of_turn(u32 turn) {
    return static_cast<u64>(blockIdx.x) * (threads * turns) + turn * threads + threadIdx.x;
}

}  // namespace headrace::tile
