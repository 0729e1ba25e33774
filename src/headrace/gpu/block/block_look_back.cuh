// Exclusive prefix over tiles for blocks of one tile each, computed in the same launch as the tile totals. The
// algorithm is that of Merrill and Garland 2016, "Single-pass parallel prefix scan with decoupled look-back",
// section 4. For persistent blocks, and for many tiles, look_back.cuh is faster. Bytes moved: one word a tile, read by
// each tile that looks back to it.
//
// A tile's state packs its stage and a value into one word: 8 bytes for values of 4 bytes, 16 for values of 8. The word
// is read and written in one access, so no fence is needed. A larger value takes several such words, each with its
// stage. A reader that finds two stages reads again. Forward progress: a block takes its tile by a ticket, so running
// blocks have taken all preceding tiles. Each block posts its own total before it waits for another.
#pragma once
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"

namespace headrace::tile {

constexpr u32 stage_none = 0, stage_total = 1, stage_prefix = 2;

template <class T>
struct LinkOf {
    static constexpr u32 parts = sizeof(T) / 8;
    static_assert(sizeof(T) % 8 == 0);
    struct type {
        WordPair part[parts];
    };
    HR_MEMBER static type pack(u32 stage, T value) {
        const Words<T> words = bits_as<Words<T>>(value);
        type state;
#pragma unroll
        for (u32 i = 0; i < parts; ++i) state.part[i] = {stage, words.word[i]};
        return state;
    }
    HR_MEMBER static u32 stage(const type& state) {
        const u64 first = state.part[0].low;
        bool alike = true;
#pragma unroll
        for (u32 i = 1; i < parts; ++i) alike &= state.part[i].low == first;
        return alike ? static_cast<u32>(first) : stage_none;
    }
    HR_MEMBER static T value(const type& state) {
        Words<T> words;
#pragma unroll
        for (u32 i = 0; i < parts; ++i) words.word[i] = state.part[i].high;
        return bits_as<T>(words);
    }
    HR_MEMBER static type load(const type* p) {
        type state;
#pragma unroll
        for (u32 i = 0; i < parts; ++i) state.part[i] = load_relaxed(&p->part[i]);
        return state;
    }
    HR_MEMBER static void store(type* p, const type& state) {
#pragma unroll
        for (u32 i = 0; i < parts; ++i) store_relaxed(&p->part[i], state.part[i]);
    }
};
template <class T>
    requires(sizeof(T) == 8)
struct LinkOf<T> {
    using type = WordPair;
    HR_MEMBER static WordPair pack(u32 stage, T value) { return {stage, bits_as<u64>(value)}; }
    HR_MEMBER static u32 stage(WordPair state) { return static_cast<u32>(state.low); }
    HR_MEMBER static T value(WordPair state) { return bits_as<T>(state.high); }
    HR_MEMBER static WordPair load(const WordPair* p) { return load_relaxed(p); }
    HR_MEMBER static void store(WordPair* p, WordPair state) { store_relaxed(p, state); }
};
template <class T>
    requires(sizeof(T) == 4)
struct LinkOf<T> {
    using type = u64;
    HR_MEMBER static u64 pack(u32 stage, T value) { return static_cast<u64>(stage) << 32 | bits_as<u32>(value); }
    HR_MEMBER static u32 stage(u64 state) { return static_cast<u32>(state >> 32); }
    HR_MEMBER static T value(u64 state) { return bits_as<T>(static_cast<u32>(state)); }
    HR_MEMBER static u64 load(const u64* p) { return load_relaxed(p); }
    HR_MEMBER static void store(u64* p, u64 state) { store_relaxed(p, state); }
};

// Memory of a launch: the ticket, then the state of each tile. All of it is zero when the launch begins.
template <class T>
class Chain {
    using State = LinkOf<T>;

public:
    using Word = typename State::type;

    HR_MEMBER explicit Chain(Word* memory) : ticket_(memory), states_(memory + 1) {}

    // Called by one thread of a block.
    HR_MEMBER u32 take_tile() { return atomicAdd(reinterpret_cast<u32*>(ticket_), 1u); }

    // Called by one thread as soon as the tile's total is known. It does not wait.
    template <class Op>
    HR_MEMBER void post(u32 tile, T total) {
        State::store(&states_[tile], State::pack(tile == 0 ? stage_prefix : stage_total, total));
    }

    // Returns the totals of all preceding tiles, joined. All lanes of one warp call it after `post`.
    template <class Op>
    HR_MEMBER T prefix(u32 tile, T total) {
        if (tile == 0) return Op::identity();
        const T before = walk<Op>(tile);
        if (lane() == 0) State::store(&states_[tile], State::pack(stage_prefix, Op::join(before, total)));
        return before;
    }

private:
    // Reads 32 tiles a step, the nearest in lane 0, until one of them has its prefix. More tiles a step are slower on
    // an H200: a state that was read early may miss a prefix posted since. All lanes read again for the same reason.
    template <class Op>
    HR_MEMBER T walk(u32 tile) {
        T joined = Op::identity();
        for (i64 mine = static_cast<i64>(tile) - 1 - lane();; mine -= lanes) {
            while (true) {
                const Word seen = State::load(&states_[mine >= 0 ? mine : 0]);
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

}  // namespace headrace::tile
