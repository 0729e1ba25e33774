// Where a tile's digits begin in the result, two ways: after the chunk's own beginnings, which were counted before; or
// behind what the tiles before come to, by decoupled look-back.
#pragma once
#include "arrange/multisplit/gpu/split_rule.cuh"
#include "gpu/block/look_back.cuh"

namespace headrace {

constexpr u32 by_chunks = 0, by_look_back = 1;

struct Places {
    u64* starts;        // of each digit: `digits` for each group of chunks; or for all
    const u32* counts;  // of each chunk and digit, in the chunks before in its group
    u64 chunk;          // keys of a chunk, a multiple of a tile
    void* memory;       // tile::Counters; of look-back also a state for each tile and digit, in which `epoch` was never
    u32 epoch;
    u32 group;  // chunks of a group
};

// Decoupled look-back (Merrill and Garland 2016, section 4), a thread a digit: a state holds the epoch and a count,
// below `whole` of the tile alone, above of all tiles from `first` up to it, which are those of the launch or of the
// tile's bucket. A count is below 2^31, so a launch has fewer keys. A tile's own counts are posted before its keys are
// ranked, so that others seldom wait.
class LookBack {
public:
    static constexpr u32 whole = 1u << 31;
    static constexpr u32 window = 8;

    // `memory`: tile::Counters, and a state for each tile and digit, in which `epoch` was never.
    __device__ __forceinline__ LookBack(void* memory, u32 epoch)
        : counters_(static_cast<tile::Counters*>(memory)),
          states_(reinterpret_cast<u64*>(counters_ + 1)),
          epoch_(epoch) {}

    __device__ __forceinline__ u32 take_tile() { return atomicAdd(&counters_->ticket, 1u); }
    __device__ __forceinline__ void end() {
        if (atomicInc(&counters_->ended, gridDim.x - 1) == gridDim.x - 1) tile::store_relaxed(&counters_->ticket, 0u);
    }
    __device__ __forceinline__ void post(u32 tile, u32 digit, u32 count, u32 first = 0) {
        store(tile, digit, tile == first ? count | whole : count);
    }
    // Keys of the digit in the tiles from `first` up to this one, whose own count is `count`.
    __device__ __forceinline__ u32 before(u32 tile, u32 digit, u32 count, u32 first = 0) {
        if (tile == first) return 0;
        u32 sum = 0;
        for (u32 end = tile; end != first;) {
            u64 seen[window];
#pragma unroll
            for (u32 k = 0; k < window; ++k) {
                const bool is_there = k < end - first;
                seen[k] = is_there ? tile::load_relaxed(&states_[static_cast<u64>(end - 1 - k) * digits + digit]) : 0;
            }
#pragma unroll
            for (u32 k = 0; k < window; ++k) {
                if (end == first || static_cast<u32>(seen[k] >> 32) != epoch_) break;
                const u32 found = static_cast<u32>(seen[k]);
                sum += found & ~whole;
                end = (found & whole) != 0 ? first : end - 1;
            }
        }
        store(tile, digit, (sum + count) | whole);
        return sum;
    }

private:
    __device__ __forceinline__ void store(u32 tile, u32 digit, u32 count) {
        tile::store_relaxed(&states_[static_cast<u64>(tile) * digits + digit], static_cast<u64>(epoch_) << 32 | count);
    }

    tile::Counters* counters_;
    u64* states_;
    u32 epoch_;
};

}  // namespace headrace
