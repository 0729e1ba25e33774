// Exclusive prefix over tiles for persistent blocks, computed in the same launch as the tile totals. A tile posts its
// total as soon as it is known (Merrill and Garland 2016, "Single-pass parallel prefix scan with decoupled look-back",
// section 4). A block also keeps the prefix of its own last tile. It then needs only the
// totals of the tiles in between, about one for each block. All totals are posted without a wait, so no late tile
// delays a chain of prefixes.
//
// A tile's state packs the epoch of its launch and the total into one word: 8 bytes for totals of 4 bytes, 16 for
// totals of 8. The word is read and written in one access, so no fence is needed. Memory of an earlier launch has other
// epochs, so it is cleared once and not for each launch. Forward progress: a block takes its tiles by tickets, so
// running blocks have taken all preceding tiles. Each block posts its total before it waits for another. Bytes moved: a
// state a tile, which each block reads once from the L2 cache.
#pragma once
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"

namespace headrace::tile {

template <class T>
struct StateOf {
    using type = WordPair;
    HR_MEMBER static WordPair pack(u32 epoch, T value) { return {epoch, bits_as<u64>(value)}; }
    HR_MEMBER static u32 epoch(WordPair state) { return static_cast<u32>(state.low); }
    HR_MEMBER static T value(WordPair state) { return bits_as<T>(state.high); }
};
template <class T>
    requires(sizeof(T) == 4)
struct StateOf<T> {
    using type = u64;
    HR_MEMBER static u64 pack(u32 epoch, T value) { return static_cast<u64>(epoch) << 32 | bits_as<u32>(value); }
    HR_MEMBER static u32 epoch(u64 state) { return static_cast<u32>(state >> 32); }
    HR_MEMBER static T value(u64 state) { return bits_as<T>(static_cast<u32>(state)); }
};

// Header of a launch's memory, followed by the states: the ticket and the number of ended blocks. Both are 0 between
// launches.
struct Counters {
    u32 ticket, ended;
    u64 unused;
};

// Tiles post totals of type T, which are converted to items of Op to join them. `at_once`: states that a lane reads at
// a time; times 32, about the number of blocks.
template <class T, class Op, u32 at_once>
class Totals {
    using State = StateOf<T>;
    using Item = typename Op::Item;

public:
    using Word = typename State::type;

    // `epoch`: not 0, and not that of an earlier launch with the same memory.
    HR_MEMBER Totals(Counters* memory, u32 epoch)
        : counters_(memory), states_(reinterpret_cast<Word*>(memory + 1)), epoch_(epoch) {}

    // `take_tile` and `post` are called by one thread.
    HR_MEMBER u32 take_tile() { return atomicAdd(&counters_->ticket, 1u); }
    HR_MEMBER void post(u32 tile, T total) { store_relaxed(&states_[tile], State::pack(epoch_, total)); }
    // Called by one thread of each block once it takes no more tiles.
    HR_MEMBER void end() {
        if (atomicInc(&counters_->ended, gridDim.x - 1) == gridDim.x - 1) store_relaxed(&counters_->ticket, 0u);
    }

    // Returns the totals of tiles [first, last), joined, in all lanes. All lanes of a warp call it.
    HR_MEMBER Item between(u32 first, u32 last) {
        Item joined = Op::identity();
        for (u32 begin = first; begin < last; begin += at_once * lanes) joined = Op::join(joined, step(begin, last));
        return joined;
    }

private:
    HR_MEMBER Item step(u32 begin, u32 last) {
        Word seen[at_once];
        bool missing = false;
#pragma unroll
        for (u32 k = 0; k < at_once; ++k) {
            const u32 i = begin + k * lanes + lane();
            seen[k] = i < last ? load_relaxed(&states_[i]) : State::pack(epoch_, T{});
            missing |= State::epoch(seen[k]) != epoch_;
        }
        while (__any_sync(all_lanes, missing)) {
            missing = false;
#pragma unroll
            for (u32 k = 0; k < at_once; ++k) {
                if (State::epoch(seen[k]) != epoch_) seen[k] = load_relaxed(&states_[begin + k * lanes + lane()]);
                missing |= State::epoch(seen[k]) != epoch_;
            }
        }
        Item row[at_once];
#pragma unroll
        for (u32 k = 0; k < at_once; ++k) {
            const u32 i = begin + k * lanes + lane();
            row[k] = i < last ? static_cast<Item>(State::value(seen[k])) : Op::identity();
        }
        if constexpr (Op::commutes) {
#pragma unroll
            for (u32 k = 1; k < at_once; ++k) row[0] = Op::join(row[0], row[k]);
            return shuffle(reduce_warp<Op>(row[0]), 0);
        } else {
            reduce_rows(row);
            Item joined = row[0];
#pragma unroll
            for (u32 k = 1; k < at_once; ++k) joined = Op::join(joined, row[k]);
            return shuffle(joined, 0);
        }
    }

    // Reduces the rows in an interleaved loop, which hides the latency of the shuffles.
    HR_MEMBER static void reduce_rows(Item (&row)[at_once]) {
#pragma unroll
        for (u32 distance = 1; distance < lanes; distance *= 2) {
#pragma unroll
            for (u32 k = 0; k < at_once; ++k) row[k] = Op::join(row[k], shuffle_down(row[k], distance));
        }
    }

    Counters* counters_;
    Word* states_;
    u32 epoch_;
};

}  // namespace headrace::tile
