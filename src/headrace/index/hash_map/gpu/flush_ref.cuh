// FLUSH: moves the pairs of a list to as few slabs as they need, and gives back the others (section IV-C of Ashkiani et
// al. 2018). No other operation runs on the table meanwhile.
//
// A group of lanes serves a list. It loads a slab, empties its slots, and writes the pairs after those that it has
// written. The place to write is never after the slab that is read, so no pair is overwritten. For example, with 3
// slots a slab, lists [a - b] [- - c] [d - -] become [a b c] [d - -], and the third slab is given back.
#pragma once
#include "index/hash_map/gpu/hash_map_ref.cuh"

namespace headrace::slab {

// The place of the next pair: slot number `used` of slab `slab`, or the first slot of the next slab if it is full.
struct WriteCursor {
    u32 slab;
    u32 used;
};

template <class L>
HR_FN u32 position_of_number(u32 number) {
    return number % L::lane_keys * group_lanes + number / L::lane_keys;
}

// Moves the pairs of a slab, whose words are loaded, to the cursor. All lanes of the warp take part.
template <class L>
HR_FN void move_pairs(const SlabTable& table, u32 bucket, u32 from, const tile::WordPair& words, u32 live,
                      WriteCursor& cursor) {
    NewPair<L> pairs[L::lane_keys];
    for (u32 p = 0; p < L::lane_keys; ++p) {
        const u32 position = p * group_lanes + group_lane();
        pairs[p] = {L::lane_key(words, p), 0};
        if ((live >> position & 1) == 0) continue;
        if constexpr (L::has_values) pairs[p].value = tile::load_relaxed(value_in<L>(slab_at(table, from), position));
    }
    const u32 after = tile::load_relaxed(next_in(slab_at(table, cursor.slab)));
    __syncwarp();  // all pairs are loaded before a slot changes
    for (u32 p = 0; p < L::lane_keys; ++p) {
        const u32 position = p * group_lanes + group_lane();
        if ((live >> position & 1) != 0) clear_slot<L>(slab_at(table, from), position);
    }
    __syncwarp();  // slots are emptied before pairs are written to them
    for (u32 p = 0; p < L::lane_keys; ++p) {
        const u32 position = p * group_lanes + group_lane();
        if ((live >> position & 1) == 0) continue;
        const u32 number = cursor.used + __popc(live & low_mask(position));
        const u32 slab = number < L::slots ? cursor.slab : after;
        note_key<L>(table, {pairs[p].key, bucket, bucket == table.buckets ? 1 : filter_bit(table, pairs[p].key)}, slab);
        store_pair<L>(slab_at(table, slab), position_of_number<L>(number % L::slots), pairs[p]);
    }
    cursor.used += __popc(live);
    if (cursor.used > L::slots) cursor = {after, cursor.used - L::slots};
    __syncwarp();
}

// Gives back all slabs after `last`. They have no pairs. One lane calls it.
HR_FN void cut_list(const SlabTable& table, u32 last) {
    u32 slab = tile::load_relaxed(next_in(slab_at(table, last)));
    tile::store_relaxed(next_in(slab_at(table, last)), no_slab);
    while (slab != no_slab) {
        u8* const at = slab_at(table, slab);
        const u32 next = tile::load_relaxed(next_in(at));
        tile::store_relaxed(next_in(at), no_slab);
        tile::store_relaxed(mark_in(at), ~0u);
        __threadfence();
        Allocator::release(table, slab);
        slab = next;
    }
}

// Flushes the list of a bucket in each group of lanes. All lanes of the warp take part.
template <class L>
HR_FN void flush_list(const SlabTable& table, u32 bucket, bool is_active) {
    WriteCursor cursor{bucket, 0};
    u32 slab = is_active ? bucket : no_slab;
    bool is_long = false;
    while (__any_sync(tile::all_lanes, slab != no_slab)) {
        const bool is_busy = slab != no_slab;
        const u32 at = is_busy ? slab : 0;
        const tile::WordPair words = load_shared(lane_bytes(table, at));
        constexpr u32 valid = L::valid_positions();
        const u32 empties = L::positions_of(words, L::empty_key);
        const u32 next = next_of(words);
        if (is_busy && slab == bucket) {
            is_long = next != no_slab;
            if (is_long && group_lane() == 0) tile::store_relaxed(mark_in(slab_at(table, bucket)), ~0u);
        }
        __threadfence();
        move_pairs<L>(table, bucket, at, words, is_busy && is_long ? valid & ~empties : 0, cursor);
        if (is_busy) slab = is_long ? next : no_slab;
    }
    if (is_long && group_lane() == 0) cut_list(table, cursor.slab);
}

}  // namespace headrace::slab
