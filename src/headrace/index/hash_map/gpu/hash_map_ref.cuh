// Operations of a warp on a slab hash (section IV of Ashkiani et al. 2018). Each lane has an operation. The lanes of a
// group run the operations of the group one after another. A ballot gives the queue, and shuffles pass the key
// (warp-cooperative work sharing). All 32 lanes of a warp call each function together. Lanes without an operation pass
// `is_active` = false.
//
// Searches and insertions are in different kernels, so during insertions slots only fill up. Each insertion takes the
// first empty slot of the list, after a look at the whole list. Two insertions of one key therefore compete for one
// slot, and the loser finds the winner's key when it reads the slab again. An erased slot can be used again for the
// same reason. So the paper's mark DELETED is not needed.
#pragma once
#include "gpu/containers/slab_alloc.cuh"

namespace headrace {
namespace slab {

// A key as slots store it, and the first slab of its bucket.
template <class L>
struct StoredKey {
    typename L::Key key;
    u32 slab;
};

template <class L>
__device__ __forceinline__ StoredKey<L> stored_key(const SlabTable& table, typename L::Key key) {
    if (key == L::empty_key) return {static_cast<typename L::Key>(~key), table.buckets};
    const auto hash = mix_bits(key);
    if constexpr (sizeof(key) == 4) {
        return {key, high_word(static_cast<u64>(hash) * table.buckets)};
    } else {
        return {key, static_cast<u32>(multiply_wide(hash, table.buckets).high)};
    }
}

// Returns whether a slab is in the list of the key that marks empty slots. Slabs that are appended to the list have a
// mark in the word before the next slab's number. All lanes of the warp take part.
__device__ __forceinline__ bool is_in_escape_list(const SlabTable& table, u32 slab, const tile::WordPair& words) {
    const u32 mark = tile::shuffle(low_word(words.high), first_lane() + group_lanes - 1);
    return slab == table.buckets || mark == 0;
}

// Result of a search: the slot, or no_slot; the value, if slots have pairs of 4 and 4 bytes.
struct Match {
    u32 slot;
    u32 value;
};

// Serves the operation of lane `source` in each group, whose slab is in `words`. The lane that `is_served` gets the
// match, and in own.slab the slab to read next.
template <class L>
__device__ __forceinline__ void match_in(const tile::WordPair& words, u32 source, bool is_served, StoredKey<L>& own,
                                         Match& match) {
    const u32 positions = L::positions_of(words, tile::shuffle(own.key, source));
    const u32 position = positions != 0 ? __ffs(positions) - 1 : 0;
    const u32 next = next_of(words);
    u32 value = 0;
    if constexpr (L::is_paired) {
        value = tile::shuffle(L::lane_value(words, position / group_lanes), first_lane() + position % group_lanes);
    }
    if (!is_served) return;
    if (positions != 0) match = {slot_number(own.slab, position), value};
    own.slab = positions != 0 ? no_slab : next;
}

__device__ __forceinline__ tile::WordPair load_constant(const u8* p) {
    return bits_as<tile::WordPair>(tile::load_streaming(reinterpret_cast<const uint4*>(p)));
}

// SEARCH. No kernel changes the table meanwhile. Most keys are in the first slab of their list, so the first slabs of
// several keys are loaded before one is looked at.
template <class L>
__device__ __forceinline__ Match search(const SlabTable& table, typename L::Key key, bool is_active) {
    constexpr u32 loads = 4;
    StoredKey<L> own = stored_key<L>(table, key);
    Match match{no_slot, 0};
#pragma unroll
    for (u32 begin = 0; begin < group_lanes; begin += loads) {
        tile::WordPair words[loads];
#pragma unroll
        for (u32 i = 0; i < loads; ++i) {
            words[i] = load_constant(lane_bytes(table, tile::shuffle(own.slab, first_lane() + begin + i)));
        }
#pragma unroll
        for (u32 i = 0; i < loads; ++i) {
            const u32 source = first_lane() + begin + i;
            match_in<L>(words[i], source, tile::lane() == source, own, match);
        }
    }
    while (true) {
        const u32 queue = __ballot_sync(tile::all_lanes, is_active && own.slab != no_slab);
        if (queue == 0) return match;
        const u32 group_queue = queue >> first_lane() & 0xFF;
        const u32 source = first_lane() + (group_queue != 0 ? __ffs(group_queue) - 1 : 0);
        const u32 slab = tile::shuffle(own.slab, source);
        tile::WordPair words{0, 0};
        if (group_queue != 0) words = load_constant(lane_bytes(table, slab));
        match_in<L>(words, source, group_queue != 0 && tile::lane() == source, own, match);
    }
}

// A pair to insert; sets have a value of 0.
template <class L>
struct NewPair {
    typename L::Key key;
    typename L::Value value;
};

// Fills an empty slot. Returns whether no other thread was faster.
template <class L>
__device__ __forceinline__ bool fill_slot(u8* slab, u32 position, const NewPair<L>& pair) {
    if constexpr (L::is_paired) {
        const u64 word = pair.key | static_cast<u64>(pair.value) << 32;
        return atomicCAS(reinterpret_cast<u64*>(key_in<L>(slab, position)), ~u64{0}, word) == ~u64{0};
    } else {
        if (atomicCAS(key_in<L>(slab, position), L::empty_key, pair.key) != L::empty_key) return false;
        if constexpr (L::has_values) tile::store_relaxed(value_in<L>(slab, position), pair.value);
        return true;
    }
}

template <class L>
__device__ __forceinline__ void store_pair(u8* slab, u32 position, const NewPair<L>& pair) {
    tile::store_relaxed(key_in<L>(slab, position), pair.key);
    if constexpr (L::has_values) tile::store_relaxed(value_in<L>(slab, position), pair.value);
}

// Empties a slot.
template <class L>
__device__ __forceinline__ void clear_slot(u8* slab, u32 position) {
    store_pair<L>(slab, position, {L::empty_key, static_cast<typename L::Value>(~typename L::Value{0})});
}

// Appends a slab that has the pair in its first slot to a list that ends at `last`. Returns `no_slab`, or the slab that
// another thread has appended.
template <class L>
__device__ __forceinline__ u32 append(const SlabTable& table, u32 last, u32 slab, const NewPair<L>& pair) {
    store_pair<L>(slab_at(table, slab), 0, pair);
    __threadfence();  // readers that see the slab's number see the pair
    const u32 next = atomicCAS(next_in(slab_at(table, last)), no_slab, slab);
    if (next == no_slab) return no_slab;
    clear_slot<L>(slab_at(table, slab), 0);
    __threadfence();
    Allocator::release(table, slab);
    return next;
}

// REPLACE of the paper, but values of present keys do not change. Returns the slot of the key, with `fresh` if the pair
// was inserted; `no_slot` if there is no memory.
template <class L>
__device__ __forceinline__ u32 insert_absent(const SlabTable& table, NewPair<L> pair, bool is_active) {
    const StoredKey<L> own = stored_key<L>(table, pair.key);
    pair.key = own.key;
    Allocator allocator(table);
    u32 slab = own.slab, empty_slot = no_slot, result = no_slot;
    while (true) {
        const u32 queue = __ballot_sync(tile::all_lanes, is_active);
        if (queue == 0) return result;
        const u32 group_queue = queue >> first_lane() & 0xFF;
        const u32 source = first_lane() + (group_queue != 0 ? __ffs(group_queue) - 1 : 0);
        const u32 at = tile::shuffle(slab, source);
        tile::WordPair words{0, 0};
        if (group_queue != 0)
            words = tile::load_relaxed(reinterpret_cast<const tile::WordPair*>(lane_bytes(table, at)));
        const u32 hits = L::positions_of(words, tile::shuffle(own.key, source));
        const u32 empties = L::positions_of(words, L::empty_key);
        const u32 next = next_of(words);
        bool is_full = false, has_moved = false;
        if (group_queue != 0 && tile::lane() == source) {
            if (empty_slot == no_slot && empties != 0) empty_slot = slot_number(slab, __ffs(empties) - 1);
            if (hits != 0) {
                result = slot_number(slab, __ffs(hits) - 1);
                is_active = false;
            } else if (next != no_slab) {
                slab = next;
                has_moved = true;
            } else if (empty_slot == no_slot) {
                is_full = true;
            } else if (fill_slot<L>(slab_of_slot(table, empty_slot), empty_slot & 31, pair)) {
                result = empty_slot | fresh;
                is_active = false;
            } else {
                slab = empty_slot >> 5;  // another thread has filled it, perhaps with this key
                empty_slot = no_slot;
            }
        }
        for (u32 full = __ballot_sync(tile::all_lanes, is_full); full != 0; full &= full - 1) {
            const u32 added = allocator.allocate();
            if (tile::lane() != static_cast<u32>(__ffs(full) - 1)) continue;
            const u32 after = added == no_slab ? no_slab : append<L>(table, slab, added, pair);
            if (after != no_slab) {
                slab = after;
                has_moved = true;
            } else {
                result = added == no_slab ? no_slot : slot_number(added, 0) | fresh;
                is_active = false;
            }
        }
        if (__ballot_sync(tile::all_lanes, has_moved) != 0) __threadfence();  // a slab is read after its number
    }
}

}  // namespace slab
}  // namespace headrace
