// Inserts rows and reduces the values of repeated keys by one block, a row a thread.
//
// No other block changes the lists of these keys meanwhile. So barriers of the block replace the launches of
// hash_map_updates.cu, and the slots stay in registers. The results are the same.
#pragma once
#include "index/hash_map/gpu/hash_map_ref.cuh"
#include "index/hash_map/gpu/reductions.cuh"

namespace headrace::slab {

// A thread's row. `number`: its position in the order of the batch, below 0xFFFFFFFD.
template <class L>
struct BlockRow {
    NewPair<L> pair;
    u32 number;
    bool is_active;
};

struct BlockCounts {
    u32 added;   // keys that were absent
    u32 failed;  // rows without memory
};

// Returns whether a thread's rank is the smallest of those that threads of the block have for one word, which is
// overwritten. `word`: null for a thread without a row. All threads of the block take part.
template <class Word>
HR_FN bool wins_word(Word* word, u32 rank) {
    if (word != nullptr) tile::store_relaxed(word, static_cast<Word>(~Word{0}));
    __syncthreads();
    if (word != nullptr) atomicMin(word, Word{rank});
    __syncthreads();
    const bool has_won = word != nullptr && tile::load_relaxed(word) == rank;
    __syncthreads();
    return has_won;
}

// Gives a value the first or the last of the values of its rows. `held`: null for a thread without a row. All threads
// of the block take part.
template <class Value>
HR_FN void keep_in_order(Value* held, Value value, u32 number, SlotReduction how) {
    const bool is_active = held != nullptr;
    if (how == SlotReduction::last && is_active) tile::store_relaxed(held, value);
    __syncthreads();
    if (__syncthreads_or(is_active && tile::load_relaxed(held) != value) == 0) return;
    if (wins_word(held, how == SlotReduction::last ? 0xFFFFFFFDu - number : number)) tile::store_relaxed(held, value);
}

// The slot of a thread's row after an insertion, and the counts of the block.
struct BlockSlot {
    Slot slot;
    BlockCounts counts;
    bool has_repeated;  // whether a row of the block has a key that was present, or that another row has added
};

// Inserts rows whose keys are absent. If a row has no memory, no key is added. All threads of the block take part.
template <class L>
HR_FN BlockSlot insert_by_block(const SlabTable& table, const BlockRow<L>& row) {
    const Slot slot = insert_absent<L>(table, row.pair, row.is_active);
    const bool is_inserted = row.is_active && slot != no_slot, is_fresh = is_inserted && (slot & fresh) != 0;
    const u32 failed = static_cast<u32>(__syncthreads_count(row.is_active && !is_inserted));
    if (failed != 0) {
        if (is_fresh) clear_slot<L>(slab_of_slot(table, slot), position_of(slot));
        return {no_slot, {0, failed}, false};
    }
    const u32 added = static_cast<u32>(__syncthreads_count(is_fresh));
    return {is_inserted ? slot : no_slot, {added, 0}, __syncthreads_or(is_inserted && !is_fresh) != 0};
}

// Inserts rows, and reduces the values of present and repeated keys, except floats. With `first`, no key is present
// before. If a row has no memory, no key is added and no value changes. All threads of the block take part, and all get
// the counts.
template <class L>
HR_FN BlockCounts upsert_by_block(const SlabTable& table, const BlockRow<L>& row, SlotReduction how) {
    const BlockSlot found = insert_by_block<L>(table, row);
    if constexpr (L::has_values) {
        if (!found.has_repeated) return found.counts;
        const bool is_inserted = found.slot != no_slot;
        u8* const slab = slab_of_slot(table, is_inserted ? found.slot : 0);
        typename L::Value* const held = is_inserted ? value_in<L>(slab, position_of(found.slot)) : nullptr;
        if (how == SlotReduction::last || how == SlotReduction::first) {
            keep_in_order(held, row.pair.value, row.number, how);
        } else if (is_inserted && (found.slot & fresh) == 0) {
            reduce_value(held, row.pair.value, how);
        }
    }
    return found.counts;
}

}  // namespace headrace::slab
