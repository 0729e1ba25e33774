// Ranks a key among the keys of its digit: the number of earlier ones. Ranking by match is stable and costs one ballot
// for each bit of the digit, whatever the distribution (Ashkiani et al. 2016, "GPU multisplit", algorithm 3). Ranking
// by atomics costs one addition a key. Its order is undefined, and it slows down as more keys share a digit. Both keep
// their counters in shared memory.
#pragma once
#include "gpu/block/warp.cuh"

namespace headrace {
namespace tile {

// Returns the mask of the lanes that have this lane's digit, of `bits` bits. For digits 3 1 3 2 in lanes 0 to 3, lane 2
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

// Called by all lanes of a warp. `counters`: one for each digit, private to this warp. Each call adds the warp's keys,
// so the keys of a second call rank after those of the first.
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

// Called by any thread of a block. `counters`: one for each digit, shared by the block.
__device__ __forceinline__ u32 rank_by_atomics(u32 digit, u32* counters) { return atomicAdd(&counters[digit], 1u); }

}  // namespace tile
}  // namespace headrace
