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
#include "index/hash_map/rules/seeded_hash.hpp"

namespace headrace::slab {

// A key as slots store it, the first slab of its bucket, and its bit in that slab's mark.
//
// The mark of a first slab has a 0 for each key that was stored in a later slab of the list. This is a Bloom filter
// with one hash (Bloom 1970). Most searches of absent keys end after the first slab, also if the list is longer.
// Erasures leave the mark as it is. A rebuild renews it.
template <class L>
struct StoredKey {
    typename L::Key key;
    u32 slab;
    u32 bit;
};

template <class Key>
HR_FN u32 filter_bit(const SlabTable& table, Key key) {
    return 1u << (seeded_hash(key, table.seed) % 32);  // the bucket comes from the highest bits
}

// Returns the bucket of a hash, its highest bits if there are 2^n buckets.
HR_FN u32 bucket_of(const SlabTable& table, u32 hash) { return high_word(static_cast<u64>(hash) * table.buckets); }
HR_FN u32 bucket_of(const SlabTable& table, u64 hash) {
    return static_cast<u32>(multiply_wide(hash, table.buckets).high);
}

template <class L>
HR_FN StoredKey<L> stored_key(const SlabTable& table, typename L::Key key) {
    if (key == L::empty_key) return {static_cast<typename L::Key>(~key), table.buckets, 1};
    return {key, bucket_of(table, seeded_hash(key, table.seed)), filter_bit(table, key)};
}

// Changes the mark of the first slab, if the key is about to be stored in another one.
template <class L>
HR_FN void note_key(const SlabTable& table, const StoredKey<L>& home, u32 slab) {
    if (slab == home.slab) return;
    atomicAnd(mark_in(slab_at(table, home.slab)), ~home.bit);
    __threadfence();  // searches that see the key see the mark
}

// Returns whether a slab is in the list of the key that marks empty slots. Slabs that are appended to the list have a
// mark in the word before the next slab's number. All lanes of the warp take part.
HR_FN bool is_in_escape_list(const SlabTable& table, u32 slab, const tile::WordPair& words) {
    const u32 mark = mark_of(words);
    return slab == table.buckets || (slab > table.buckets && mark == 0);
}

// Result of a search: the slot, or no_slot; the value, if slots have pairs of 4 and 4 bytes.
struct Match {
    Slot slot;
    u32 value;
};

// Serves the operation of lane `source` in each group, whose slab is in `words`. The lane that `is_served` gets the
// match, and in own.slab the slab to read next. `is_first`: whether the slab is the first one of its list.
template <bool is_first, class L>
HR_FN void match_in(const tile::WordPair& words, u32 source, bool is_served, StoredKey<L>& own, Match& match) {
    const u32 positions = L::positions_of(words, tile::shuffle(own.key, source));
    const u32 position = positions != 0 ? __ffs(positions) - 1 : 0;
    const u32 next = next_of(words);
    u32 value = 0;
    if constexpr (L::is_paired) {
        value = tile::shuffle(L::lane_value(words, position / group_lanes), first_lane() + position % group_lanes);
    }
    bool is_last = positions != 0;
    if constexpr (is_first) is_last |= (mark_of(words) & own.bit) != 0;
    if (!is_served) return;
    if (positions != 0) match = {slot_number(own.slab, position), value};
    own.slab = is_last ? no_slab : next;
}

// SEARCH. No kernel changes the table meanwhile. Most keys are in the first slab of their list, so the first slabs of
// several keys are loaded before one is looked at. `is_partial`: many lanes may be inactive, and load nothing.
template <class L, bool is_partial = false>
HR_FN Match search(const SlabTable& table, typename L::Key key, bool is_active) {
    constexpr u32 loads = 4;
    StoredKey<L> own = stored_key<L>(table, key);
    if (is_partial && !is_active) own.slab = no_slab;
    Match match{no_slot, 0};
#pragma unroll
    for (u32 begin = 0; begin < group_lanes; begin += loads) {
        tile::WordPair words[loads];
#pragma unroll
        for (u32 i = 0; i < loads; ++i) {
            const u32 slab = tile::shuffle(own.slab, first_lane() + begin + i);
            words[i] = is_partial && slab == no_slab ? tile::WordPair{0, 0} : load_constant(first_bytes(table, slab));
        }
#pragma unroll
        for (u32 i = 0; i < loads; ++i) {
            const u32 source = first_lane() + begin + i;
            const bool is_served = tile::lane() == source && !(is_partial && own.slab == no_slab);
            match_in<true, L>(words[i], source, is_served, own, match);
        }
    }
    for (Turn turn; next_turn(is_active && own.slab != no_slab, turn);) {
        const tile::WordPair words = load_slab<load_constant>(table, tile::shuffle(own.slab, turn.source), turn);
        match_in<false, L>(words, turn.source, turn.is_own, own, match);
    }
    return match;
}

// A pair to insert; sets have a value of 0.
template <class L>
struct NewPair {
    typename L::Key key;
    typename L::Value value;
};

// Fills an empty slot. Returns whether no other thread was faster.
template <class L>
HR_FN bool fill_slot(u8* slab, u32 position, const NewPair<L>& pair) {
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
HR_FN void store_pair(u8* slab, u32 position, const NewPair<L>& pair) {
    tile::store_relaxed(key_in<L>(slab, position), pair.key);
    if constexpr (L::has_values) tile::store_relaxed(value_in<L>(slab, position), pair.value);
}

// Empties a slot. Only its key is read before it is filled again.
template <class L>
HR_FN void clear_slot(u8* slab, u32 position) {
    if constexpr (L::is_paired) {
        tile::store_relaxed(reinterpret_cast<u64*>(key_in<L>(slab, position)), ~u64{0});  // one access
    } else {
        tile::store_relaxed(key_in<L>(slab, position), static_cast<typename L::Key>(L::empty_key));
    }
}

// Empties the slot of a key. Returns whether the key was still there.
template <class L>
HR_FN bool erase_key(u8* slab, u32 position, typename L::Key key) {
    if constexpr (L::is_paired) {
        return low_word(atomicExch(reinterpret_cast<u64*>(key_in<L>(slab, position)), ~u64{0})) == key;
    } else {
        return atomicExch(key_in<L>(slab, position), static_cast<typename L::Key>(L::empty_key)) == key;
    }
}

// Appends a slab that has the pair in its first slot to a list that ends at `last`. Returns `no_slab`, or the slab that
// another thread has appended.
template <class L>
HR_FN u32 append(const SlabTable& table, u32 last, u32 slab, const NewPair<L>& pair) {
    store_pair<L>(slab_at(table, slab), 0, pair);
    __threadfence();  // readers that see the slab's number see the pair
    const u32 next = atomicCAS(next_in(slab_at(table, last)), no_slab, slab);
    if (next == no_slab) return no_slab;
    clear_slot<L>(slab_at(table, slab), 0);
    __threadfence();
    Allocator::release(table, slab);
    return next;
}

// A lane's insertion, as it walks along its list.
template <class L>
struct Insertion {
    StoredKey<L> home;
    NewPair<L> pair;
    u32 slab;
    bool is_active;
    Slot result = no_slot;  // the slot of the pair, with `fresh` if it was inserted; no_slot without memory
    bool is_full = false;
    bool has_moved = false;

    __device__ void end(Slot slot) {
        result = slot;
        is_active = false;
    }
    __device__ void move_to(u32 next) {
        slab = next;
        has_moved = true;
    }
};

// Runs insertions. `step(own, words, turn)` looks at a slab: it ends the insertion, moves it to the next slab, or finds
// that the list is full. All lanes call it, and the lane of the turn acts. `link(own, added)` puts an allocated slab
// with the pair into a list. It returns `no_slab`, or the slab that another thread has put there.
template <class L, class Step, class Link>
HR_FN Slot run_insertions(const SlabTable& table, const NewPair<L>& pair, bool is_active, const Step& step,
                          const Link& link) {
    const StoredKey<L> home = stored_key<L>(table, pair.key);
    Insertion<L> own{home, {home.key, pair.value}, home.slab, is_active};
    Allocator allocator(table);
    for (Turn turn; next_turn(own.is_active, turn);) {
        own.is_full = own.has_moved = false;
        step(own, load_slab<load_shared>(table, tile::shuffle(own.slab, turn.source), turn), turn);
        const u32 added = allocator.allocate(own.is_full);
        if (own.is_full) {
            if (added != no_slab) note_key<L>(table, own.home, added);
            const u32 other = added == no_slab ? no_slab : link(own, added);
            if (other != no_slab) {
                own.move_to(other);
            } else {
                own.end(added == no_slab ? no_slot : slot_number(added, 0) | fresh);
            }
        }
        if (__ballot_sync(tile::all_lanes, own.has_moved) != 0) __threadfence();  // a slab is read after its number
    }
    return own.result;
}

// REPLACE of the paper, but values of present keys do not change. Returns the slot of the key, with `fresh` if the pair
// was inserted; `no_slot` if there is no memory.
template <class L>
HR_FN Slot insert_absent(const SlabTable& table, const NewPair<L>& pair, bool is_active) {
    Slot empty_slot = no_slot;
    const auto step = [&](Insertion<L>& own, const tile::WordPair& words, const Turn& turn) {
        const u32 hits = L::positions_of(words, tile::shuffle(own.home.key, turn.source));
        const u32 empties = L::positions_of(words, L::empty_key);
        const u32 next = next_of(words);
        if (!turn.is_own) return;
        if (empty_slot == no_slot && empties != 0) empty_slot = slot_number(own.slab, __ffs(empties) - 1);
        if (hits != 0) {
            own.end(slot_number(own.slab, __ffs(hits) - 1));
        } else if (next != no_slab) {
            own.move_to(next);
        } else if (empty_slot == no_slot) {
            own.is_full = true;
        } else {
            note_key<L>(table, own.home, slab_number(empty_slot));
            if (fill_slot<L>(slab_of_slot(table, empty_slot), position_of(empty_slot), own.pair)) {
                own.end(empty_slot | fresh);
            } else {
                own.slab = slab_number(empty_slot);  // another thread has filled it, perhaps with this key
                empty_slot = no_slot;
            }
        }
    };
    const auto link = [&](const Insertion<L>& own, u32 added) { return append<L>(table, own.slab, added, own.pair); };
    return run_insertions<L>(table, pair, is_active, step, link);
}

}  // namespace headrace::slab
