// Finds the output position of a tile's digits in one of two ways. It uses chunk positions that an earlier kernel
// counted, or sums the counts of preceding tiles by decoupled look-back.
#pragma once
#include "arrange/multisplit/gpu/split_rule.cuh"
#include "arrange/multisplit/gpu/split_task.hpp"
#include "gpu/block/look_back.cuh"

namespace headrace {

constexpr u32 by_chunks = 0, by_look_back = 1;

// Decoupled look-back (Merrill and Garland 2016, section 4), one thread per digit. A state has the epoch and a count.
// Without the flag `whole` it is the count of the tile alone; with it, of all tiles from `first` up to the tile.
// `first` is the first tile of the launch or of the tile's bucket. Counts are below 2^31, which limits the keys of a
// launch. A tile posts its counts before it ranks its keys, so that other blocks seldom wait.
class LookBack {
public:
    static constexpr u32 whole = 1u << 31;
    static constexpr u32 window = 8;

    // `memory`: tile::Counters, and a state for each tile and digit, none of which has `epoch`.
    HR_MEMBER LookBack(void* memory, u32 epoch)
        : counters_(static_cast<tile::Counters*>(memory)),
          states_(reinterpret_cast<u64*>(counters_ + 1)),
          epoch_(epoch) {}

    HR_MEMBER u32 take_tile() { return atomicAdd(&counters_->ticket, 1u); }
    HR_MEMBER void end() {
        if (atomicInc(&counters_->ended, gridDim.x - 1) == gridDim.x - 1) tile::store_relaxed(&counters_->ticket, 0u);
    }
    HR_MEMBER void post(u32 tile, u32 digit, u32 count, u32 first = 0) {
        store(tile, digit, tile == first ? count | whole : count);
    }
    // Returns the keys of the digit in the tiles from `first` up to, and without, this tile, which has `count`.
    HR_MEMBER u32 before(u32 tile, u32 digit, u32 count, u32 first = 0) {
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
    HR_MEMBER void store(u32 tile, u32 digit, u32 count) {
        tile::store_relaxed(&states_[static_cast<u64>(tile) * digits + digit], static_cast<u64>(epoch_) << 32 | count);
    }

    tile::Counters* counters_;
    u64* states_;
    u32 epoch_;
};

}  // namespace headrace
