// Where a key goes among those of its digit: how many of them came before. By match it is stable and costs the same for
// every distribution, a ballot a bit of the digit (Ashkiani et al. 2016, "GPU multisplit", algorithm 3); by atomics it
// is one addition a key, in no order, and slower the more keys share a digit. Both count in shared memory as they go.
#pragma once
#include "gpu/block/warp.cuh"

namespace headrace {
namespace tile {

// The lanes that have this lane's digit, as a mask; digits have `bits` bits. For digits 3 1 3 2 in lanes 0 to 3, lane 2
// gets 0101.
template <u32 bits>
__device__ __forceinline__ u32 lanes_with(u32 digit) {
    u32 same = all_lanes;
#pragma unroll
    for (u32 bit = 0; bit < bits; ++bit) {
        const bool is_set = (digit >> bit & 1) != 0;
        const u32 votes = __ballot_sync(all_lanes, is_set);
        same &= is_set ? votes : ~votes;
    }
    return same;
}

// All lanes of a warp. `counters`: this warp's own, one a digit; each call adds the warp's keys, so a second call ranks
// behind the first.
template <u32 bits>
__device__ __forceinline__ u32 rank_by_match(u32 digit, u32* counters) {
    const u32 same = lanes_with<bits>(digit);
    const u32 last = 31 - static_cast<u32>(__clz(static_cast<int>(same)));
    u32 before = 0;
    if (lane() == last) {
        before = counters[digit];
        counters[digit] = before + static_cast<u32>(__popc(same));
    }
    __syncwarp();
    return shuffle(before, last) + static_cast<u32>(__popc(same & ((1u << lane()) - 1)));
}

// Any thread of a block; `counters` are the block's, one a digit.
__device__ __forceinline__ u32 rank_by_atomics(u32 digit, u32* counters) { return atomicAdd(&counters[digit], 1u); }

}  // namespace tile
}  // namespace headrace
