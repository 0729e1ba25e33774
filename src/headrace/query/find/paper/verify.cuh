// Compares the pattern at positions whose window has its fingerprint, a warp for each position. This is
// warp-cooperative work sharing (Ashkiani 2017, section 1.3), as the second stage of DRK-2S (section 2.7.2). The bytes
// are compared, not hashes of 32 of them, so the result is exact. A lane compares 4 bytes, a warp 128 bytes at a time.
#pragma once
#include "query/find/gpu/text.cuh"

namespace headrace {

// Returns the bits of `mask` at which the pattern occurs. `first`: position of bit 0. All lanes of a warp call it.
HR_FN u32 verified(const FindTask& task, u64 first, u32 mask) {
    constexpr u64 at_once = 4 * tile::lanes;
    u32 pending = mask;
    for (u32 queue; (queue = __ballot_sync(tile::all_lanes, pending != 0)) != 0;) {
        const u32 owner = static_cast<u32>(trailing_zeros(queue));
        const u32 bit = pending == 0 ? 0 : static_cast<u32>(trailing_zeros(pending));
        const u64 at = tile::shuffle(first + bit, owner);
        bool is_equal = true;
        for (u64 offset = 0; is_equal && offset < task.length; offset += at_once) {
            const u64 own = offset + 4 * tile::lane();
            const u32 unlike = own < task.length ? unlike_word(task, at, own, task.length) : 0;
            is_equal = !__any_sync(tile::all_lanes, unlike != 0);
        }
        if (tile::lane() != owner) continue;
        if (!is_equal) mask &= ~(1u << bit);
        pending &= pending - 1;
    }
    return mask;
}

}  // namespace headrace
