// Operations of a warp on a slab hash with several values for a key. They are called as those of hash_map_ref.cuh.
//
// INSERT looks at the first two slabs of a list only, and puts a new slab between them when both are full. So the time
// of an insertion does not depend on the length of the list, also if all pairs have one key. Slots that erasures have
// emptied further down are used again after the next rebuild.
#pragma once
#include "index/hash_map/gpu/hash_map_ref.cuh"

namespace headrace {
namespace slab {

__device__ __forceinline__ u32* mark_in(u8* slab) { return reinterpret_cast<u32*>(slab + mark_offset); }

// Returns an empty position; different warps begin at different ones.
__device__ __forceinline__ u32 chosen_position(u32 empties) {
    const u32 begin = (blockIdx.x + threadIdx.x / group_lanes) % tile::lanes;
    const u32 after = empties & ~low_mask(begin);
    return __ffs(after != 0 ? after : empties) - 1;
}

// Puts a slab that has the pair in its first slot after the first slab of a list, whose second slab is `second`.
// Returns `second`, or the slab that another thread has put there.
template <class L>
__device__ __forceinline__ u32 put_second(const SlabTable& table, u32 first, u32 second, u32 slab,
                                          const NewPair<L>& pair) {
    u8* const added = slab_at(table, slab);
    store_pair<L>(added, 0, pair);
    tile::store_relaxed(next_in(added), second);
    if (first == table.buckets) tile::store_relaxed(mark_in(added), 0u);
    __threadfence();  // readers that see the slab's number see its content
    const u32 found = atomicCAS(next_in(slab_at(table, first)), second, slab);
    if (found == second) return second;
    clear_slot<L>(added, 0);
    tile::store_relaxed(next_in(added), no_slab);
    tile::store_relaxed(mark_in(added), ~0u);
    __threadfence();
    Allocator::release(table, slab);
    return found;
}

// INSERT. Returns the slot of the pair, with `fresh`, or `no_slot` if there is no memory.
template <class L>
__device__ __forceinline__ u32 insert_pair(const SlabTable& table, NewPair<L> pair, bool is_active) {
    const StoredKey<L> own = stored_key<L>(table, pair.key);
    pair.key = own.key;
    Allocator allocator(table);
    u32 slab = own.slab, result = no_slot;
    while (true) {
        const u32 queue = __ballot_sync(tile::all_lanes, is_active);
        if (queue == 0) return result;
        const u32 group_queue = queue >> first_lane() & 0xFF;
        const u32 source = first_lane() + (group_queue != 0 ? __ffs(group_queue) - 1 : 0);
        const u32 at = tile::shuffle(slab, source);
        tile::WordPair words{0, 0};
        if (group_queue != 0)
            words = tile::load_relaxed(reinterpret_cast<const tile::WordPair*>(lane_bytes(table, at)));
        const u32 empties = L::positions_of(words, L::empty_key);
        const u32 next = next_of(words);
        bool is_full = false, has_moved = false;
        if (group_queue != 0 && tile::lane() == source) {
            if (empties != 0) {
                const u32 position = chosen_position(empties);
                if (fill_slot<L>(slab_at(table, slab), position, pair)) {
                    result = slot_number(slab, position) | fresh;
                    is_active = false;
                }
            } else if (slab == own.slab && next != no_slab) {
                slab = next;
                has_moved = true;
            } else {
                is_full = true;
            }
        }
        for (u32 full = __ballot_sync(tile::all_lanes, is_full); full != 0; full &= full - 1) {
            const u32 added = allocator.allocate();
            if (tile::lane() != static_cast<u32>(__ffs(full) - 1)) continue;
            const u32 second = slab == own.slab ? no_slab : slab;
            const u32 found = added == no_slab ? second : put_second<L>(table, own.slab, second, added, pair);
            if (found != second) {
                slab = found;
                has_moved = true;
            } else {
                result = added == no_slab ? no_slot : slot_number(added, 0) | fresh;
                is_active = false;
            }
        }
        if (__ballot_sync(tile::all_lanes, has_moved) != 0) __threadfence();  // a slab is read after its number
    }
}

// SEARCHALL and DELETEALL: calls visitor.visit(slab, positions, source) for each slab of the lists. `positions` are
// those of the key of lane `source`, which a group of lanes serves. All lanes of the warp take part.
template <class L, class Visitor>
__device__ __forceinline__ void visit_lists(const SlabTable& table, typename L::Key key, bool is_active,
                                            Visitor& visitor) {
    const StoredKey<L> own = stored_key<L>(table, key);
    u32 slab = own.slab;
    while (true) {
        const u32 queue = __ballot_sync(tile::all_lanes, is_active);
        if (queue == 0) return;
        const u32 group_queue = queue >> first_lane() & 0xFF;
        const u32 source = first_lane() + (group_queue != 0 ? __ffs(group_queue) - 1 : 0);
        const u32 at = tile::shuffle(slab, source);
        tile::WordPair words{0, 0};
        if (group_queue != 0)
            words = tile::load_relaxed(reinterpret_cast<const tile::WordPair*>(lane_bytes(table, at)));
        const u32 positions = L::positions_of(words, tile::shuffle(own.key, source));
        const u32 next = next_of(words);
        visitor.visit(at, group_queue != 0 ? positions : 0, source);
        if (group_queue != 0 && tile::lane() == source) {
            slab = next;
            is_active = next != no_slab;
        }
    }
}

}  // namespace slab
}  // namespace headrace
