// What all tiles before a tile come to, in the same launch that finds what each of them comes to. As in decoupled
// look-back (Merrill and Garland 2016, "Single-pass parallel prefix scan with decoupled look-back", section 4) a tile's
// total is posted as soon as it is known; but blocks stay, and a block remembers what all tiles up to its last one came
// to. So it needs only the totals of the tiles between, about as many as there are blocks, all of them posted without
// waiting for anybody: there is no chain of prefixes that one late tile would hold up.
//
// A tile's state holds the epoch of its launch and the total in one word, 8 bytes for totals of 4 bytes, 16 for those
// of 8, read and written in one piece: no fence is needed. Memory that served an earlier launch has other epochs, so it
// is cleared once, not for each launch. Forward progress: a block takes its tiles by tickets, so those before have been
// taken by blocks that run, and each posts its total before it waits for any other. Bytes moved: a state a tile, read
// once by each block, from the second cache.
#pragma once
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"

namespace headrace {
namespace tile {

template <class T>
struct StateOf {
    using type = Wide;
    static __device__ __forceinline__ Wide pack(u32 epoch, T value) { return {epoch, bits_as<u64>(value)}; }
    static __device__ __forceinline__ u32 epoch(Wide state) { return static_cast<u32>(state.low); }
    static __device__ __forceinline__ T value(Wide state) { return bits_as<T>(state.high); }
};
template <class T>
    requires(sizeof(T) == 4)
struct StateOf<T> {
    using type = u64;
    static __device__ __forceinline__ u64 pack(u32 epoch, T value) {
        return static_cast<u64>(epoch) << 32 | bits_as<u32>(value);
    }
    static __device__ __forceinline__ u32 epoch(u64 state) { return static_cast<u32>(state >> 32); }
    static __device__ __forceinline__ T value(u64 state) { return bits_as<T>(static_cast<u32>(state)); }
};

// Memory of a launch: tickets and a count of the blocks that have ended, which are 0 between launches, and the states.
struct Counters {
    u32 ticket, ended;
    u64 unused;
};

// Posted are totals of type T, and joined items of Op, which each T becomes. `at_once` x 32 states are looked at
// together: as many as there are blocks.
template <class T, class Op, u32 at_once>
class Totals {
    using State = StateOf<T>;
    using Item = typename Op::Item;

public:
    using Word = typename State::type;

    // `epoch` is none that the memory has seen, and not 0.
    __device__ __forceinline__ Totals(Counters* memory, u32 epoch)
        : counters_(memory), states_(reinterpret_cast<Word*>(memory + 1)), epoch_(epoch) {}

    // By one thread.
    __device__ __forceinline__ u32 take_tile() { return atomicAdd(&counters_->ticket, 1u); }
    __device__ __forceinline__ void post(u32 tile, T total) {
        store_relaxed(&states_[tile], State::pack(epoch_, total));
    }
    // By one thread of each block, when it takes no more.
    __device__ __forceinline__ void end() {
        if (atomicInc(&counters_->ended, gridDim.x - 1) == gridDim.x - 1) store_relaxed(&counters_->ticket, 0u);
    }

    // By a warp: the tiles from `first` to before `last` joined, for all lanes.
    __device__ __forceinline__ Item between(u32 first, u32 last) {
        Item joined = Op::identity();
        for (u32 begin = first; begin < last; begin += at_once * lanes) joined = Op::join(joined, step(begin, last));
        return joined;
    }

private:
    __device__ __forceinline__ Item step(u32 begin, u32 last) {
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

    // Side by side, so that the steps of one fill the waits of the others.
    static __device__ __forceinline__ void reduce_rows(Item (&row)[at_once]) {
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

}  // namespace tile
}  // namespace headrace
