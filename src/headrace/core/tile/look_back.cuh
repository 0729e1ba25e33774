// Decoupled look-back: what all tiles before this one come to, in the same launch that makes it (Merrill and Garland
// 2016, "Single-pass parallel prefix scan with decoupled look-back", section 4). Bytes moved: one word a tile, read by
// those that look back.
//
// A tile's state holds its stage and a value in one word, 8 bytes for values of 4 bytes, 16 for values of 8, which is
// read and written in one piece: so no fence is needed. Forward progress: a block takes its tile by a ticket, so all
// tiles before it have been taken by blocks that run, and each posts its own total before it waits for any other.
#pragma once
#include "core/tile/memory.cuh"
#include "core/tile/warp.cuh"

namespace headrace {
namespace tile {

constexpr u32 stage_none = 0, stage_total = 1, stage_prefix = 2;

template <class T>
struct StateOf {
    using type = Wide;
    static __device__ __forceinline__ Wide pack(u32 stage, T value) { return {stage, bits_as<u64>(value)}; }
    static __device__ __forceinline__ u32 stage(Wide state) { return static_cast<u32>(state.low); }
    static __device__ __forceinline__ T value(Wide state) { return bits_as<T>(state.high); }
};
template <class T>
    requires(sizeof(T) == 4)
struct StateOf<T> {
    using type = u64;
    static __device__ __forceinline__ u64 pack(u32 stage, T value) {
        return static_cast<u64>(stage) << 32 | bits_as<u32>(value);
    }
    static __device__ __forceinline__ u32 stage(u64 state) { return static_cast<u32>(state >> 32); }
    static __device__ __forceinline__ T value(u64 state) { return bits_as<T>(static_cast<u32>(state)); }
};

// All states of a launch, and before them the ticket; all zero when it begins.
template <class T>
class LookBack {
    using State = StateOf<T>;

public:
    using Word = typename State::type;

    __device__ __forceinline__ explicit LookBack(Word* memory) : ticket_(memory), states_(memory + 1) {}

    // By one thread of a block.
    __device__ __forceinline__ u32 take_tile() { return atomicAdd(reinterpret_cast<u32*>(ticket_), 1u); }

    // By one thread, as soon as a tile's total is known: it waits for nothing.
    template <class Op>
    __device__ __forceinline__ void post(u32 tile, T total) {
        store_relaxed(&states_[tile], State::pack(tile == 0 ? stage_prefix : stage_total, total));
    }

    // By all lanes of one warp, once the total is posted: the items of all tiles before this one, joined.
    template <class Op>
    __device__ __forceinline__ T prefix(u32 tile, T total) {
        if (tile == 0) return Op::identity();
        const T before = walk<Op>(tile);
        if (lane() == 0) store_relaxed(&states_[tile], State::pack(stage_prefix, Op::join(before, total)));
        return before;
    }

private:
    // 32 tiles at a step, the nearest in lane 0, until one of them has its prefix. More tiles at a step were slower on
    // an H200: states read early are old, and hide a prefix that has come since. So all lanes look again, too.
    template <class Op>
    __device__ __forceinline__ T walk(u32 tile) {
        T joined = Op::identity();
        for (i64 mine = static_cast<i64>(tile) - 1 - lane();; mine -= lanes) {
            while (true) {
                const Word seen = load_relaxed(&states_[mine >= 0 ? mine : 0]);
                const Word state = mine >= 0 ? seen : State::pack(stage_prefix, Op::identity());
                const u32 with_prefix = __ballot_sync(all_lanes, State::stage(state) == stage_prefix);
                const u32 missing = __ballot_sync(all_lanes, State::stage(state) == stage_none);
                const u32 last = with_prefix == 0 ? lanes - 1 : static_cast<u32>(trailing_zeros(with_prefix));
                if ((missing & ((2u << last) - 1)) != 0) continue;
                const T value = lane() <= last ? State::value(state) : Op::identity();
                joined = Op::join(shuffle(reduce_warp_backwards<Op>(value), 0), joined);
                if (with_prefix != 0) return joined;
                break;
            }
        }
    }

    Word* ticket_;
    Word* states_;
};

}  // namespace tile
}  // namespace headrace
