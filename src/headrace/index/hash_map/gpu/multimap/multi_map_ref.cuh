// Operations of a warp on a slab hash with several values for a key. They are called as those of hash_map_ref.cuh.
//
// INSERT looks at the first two slabs of a list only, and puts a new slab between them when both are full. So the time
// of an insertion does not depend on the length of the list, also if all pairs have one key. Slots that erasures have
// emptied further down are used again after the next rebuild.
#pragma once
#include "index/hash_map/gpu/hash_map_ref.cuh"

namespace headrace::slab {

// Returns an empty position; different warps begin at different ones.
HR_FN u32 chosen_position(u32 empties) {
    const u32 begin = (blockIdx.x + threadIdx.x / group_lanes) % tile::lanes;
    const u32 after = empties & ~low_mask(begin);
    return __ffs(after != 0 ? after : empties) - 1;
}

// Puts a slab that has the pair in its first slot after the first slab of a list, whose second slab is `second`.
// Returns `no_slab`, or the slab that another thread has put there.
template <class L>
HR_FN u32 put_second(const SlabTable& table, u32 first, u32 second, u32 slab, const NewPair<L>& pair) {
    u8* const added = slab_at(table, slab);
    store_pair<L>(added, 0, pair);
    tile::store_relaxed(next_in(added), second);
    if (first == table.buckets) tile::store_relaxed(mark_in(added), 0u);
    __threadfence();  // readers that see the slab's number see its content
    const u32 found = atomicCAS(next_in(slab_at(table, first)), second, slab);
    if (found == second) return no_slab;
    clear_slot<L>(added, 0);
    tile::store_relaxed(next_in(added), no_slab);
    tile::store_relaxed(mark_in(added), ~0u);
    __threadfence();
    Allocator::release(table, slab);
    return found;
}

// Result of an insertion: the slot of the pair, with `fresh`, or `no_slot`. An insertion without a slot was postponed,
// because other threads were faster too often, or there was no memory.
struct Appended {
    Slot slot;
    bool is_postponed;
};

// INSERT. A thread that has looked at `max_looks` slabs gives up, and so do the threads of its warp that have the same
// list. If no other thread changes the list, an insertion looks at two slabs at most.
template <class L>
HR_FN Appended insert_pair(const SlabTable& table, const NewPair<L>& pair, bool is_active, u32 max_looks) {
    u32 looks = 0;
    bool is_postponed = false;
    const auto step = [&](Insertion<L>& own, const tile::WordPair& words, const Turn& turn) {
        const u32 empties = L::positions_of(words, L::empty_key);
        const u32 next = next_of(words);
        const u32 late = __ballot_sync(tile::all_lanes, turn.is_own && looks++ == max_looks);
        if (late != 0) {
            const u32 home = tile::shuffle(own.home.slab, __ffs(late) - 1);
            is_postponed |= own.is_active && own.home.slab == home;
            if (is_postponed) own.is_active = false;
        }
        if (!turn.is_own || is_postponed) return;
        if (empties != 0) {
            const u32 position = chosen_position(empties);
            note_key<L>(table, own.home, own.slab);
            if (fill_slot<L>(slab_at(table, own.slab), position, own.pair)) {
                own.end(slot_number(own.slab, position) | fresh);
            }
        } else if (own.slab == own.home.slab && next != no_slab) {
            own.move_to(next);
        } else {
            own.is_full = true;
        }
    };
    const auto link = [&](const Insertion<L>& own, u32 added) {
        const u32 second = own.slab == own.home.slab ? no_slab : own.slab;
        return put_second<L>(table, own.home.slab, second, added, own.pair);
    };
    const Slot slot = run_insertions<L>(table, pair, is_active, step, link);
    return {slot, is_postponed};
}

// Puts a full slab after the first slab of a list. All pairs of the slab are stored. One lane calls it, and no thread
// walks along the list meanwhile: the list is whole at the end of the kernel.
template <class L>
HR_FN void put_full(const SlabTable& table, const StoredKey<L>& home, u32 slab) {
    u8* const added = slab_at(table, slab);
    note_key<L>(table, home, slab);
    if (home.slab == table.buckets) tile::store_relaxed(mark_in(added), 0u);
    tile::store_relaxed(next_in(added), atomicExch(next_in(slab_at(table, home.slab)), slab));
}

// SEARCHALL and DELETEALL: calls visitor.visit(slab, positions, source) for each slab of the lists. `positions` are
// those of the key of lane `source`, which a group of lanes serves. A lane's list ends early unless visitor.goes_on().
// All lanes of the warp take part.
template <class L, class Visitor>
HR_FN void visit_lists(const SlabTable& table, typename L::Key key, bool is_active, Visitor& visitor) {
    const StoredKey<L> own = stored_key<L>(table, key);
    u32 slab = own.slab;
    for (Turn turn; next_turn(is_active, turn);) {
        const u32 at = tile::shuffle(slab, turn.source);
        const tile::WordPair words = load_slab<load_shared>(table, at, turn);
        const u32 positions = L::positions_of(words, tile::shuffle(own.key, turn.source));
        const u32 next = next_of(words);
        visitor.visit(at, turn.is_busy ? positions : 0, turn.source);
        if (turn.is_own) {
            slab = next;
            is_active = next != no_slab && visitor.goes_on();
        }
    }
}

}  // namespace headrace::slab
