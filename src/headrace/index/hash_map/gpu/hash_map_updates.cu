// Changes values and empties slots of the slab hash, one thread per row, after another kernel has found the slots.
//
// Several rows may have one slot. Their order in the batch decides, whatever the order of threads. The value of the
// slot, or for erasures the key, is first replaced by the smallest number among its rows. Each row then sees whether
// it has won. So no memory is needed besides the table. Bytes moved per row and kernel: 4 for the slot, and a sector
// of 32 bytes that is read, and for stores written back.
#include "index/hash_map/gpu/batch_rows.cuh"
#include "index/hash_map/gpu/flush_ref.cuh"
#include "index/hash_map/gpu/hash_map_ref.cuh"
#include "index/hash_map/gpu/reductions.cuh"

using namespace headrace;

using slab::count_flags, slab::thread_row, slab::threads;
using slab::Key, slab::L, slab::Value;

// The contest of the rows of a slot, in the slot's value or, for erasures and sets, in its key. `is_reversed`: the last
// row wins, instead of the first.
struct Contest {
    SlabTable table;
    bool is_wide;  // whether the word has 8 bytes
    bool is_for_key;
    bool is_reversed;

    __device__ Contest(const SlabTable& memory, u32 for_key, u32 reversed)
        : table(memory),
          is_wide((for_key != 0 || !L::has_values ? sizeof(L::Key) : sizeof(Value)) == 8),
          is_for_key(for_key != 0 || !L::has_values),
          is_reversed(reversed != 0) {}

    __device__ u64 rank(u64 row) const { return is_reversed ? 0xFFFFFFFDull - row : row; }
    __device__ u8* word(slab::Slot slot) const {
        u8* const slab = slab::slab_of_slot(table, slot);
        return slab + (is_for_key ? L::key_offset(slab::position_of(slot)) : L::value_offset(slab::position_of(slot)));
    }
    __device__ u32* word_4(slab::Slot slot) const { return reinterpret_cast<u32*>(word(slot)); }
    __device__ u64* word_8(slab::Slot slot) const { return reinterpret_cast<u64*>(word(slot)); }
};

// Returns whether a kernel has nothing to do, because an earlier one has counted nothing. `counter`: null to run
// always.
HR_FN bool is_skipped(const u64* counter) { return counter != nullptr && *counter == 0; }

// Sets the contested word of each slot to all bits.
extern "C" __global__ void __launch_bounds__(threads)
    begin_contest(const __grid_constant__ SlabTable table, const slab::Slot* slots, u64 count, u32 is_for_key,
                  u32 is_reversed, const u64* counter) {
    const u64 row = thread_row();
    if (is_skipped(counter)) return;
    if (row >= count || !slab::has_slot(slots[row])) return;
    const Contest contest(table, is_for_key, is_reversed);
    if (contest.is_wide) {
        *contest.word_8(slots[row]) = ~u64{0};
    } else {
        *contest.word_4(slots[row]) = ~0u;
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    enter_contest(const __grid_constant__ SlabTable table, const slab::Slot* slots, u64 count, u32 is_for_key,
                  u32 is_reversed, const u64* counter) {
    const u64 row = thread_row();
    if (is_skipped(counter)) return;
    if (row >= count || !slab::has_slot(slots[row])) return;
    const Contest contest(table, is_for_key, is_reversed);
    if (contest.is_wide) {
        atomicMin(contest.word_8(slots[row]), contest.rank(row));
    } else {
        atomicMin(contest.word_4(slots[row]), static_cast<u32>(contest.rank(row)));
    }
}

// Slots of rows that have not won become `skipped`. `won` may be null.
extern "C" __global__ void __launch_bounds__(threads)
    end_contest(const __grid_constant__ SlabTable table, slab::Slot* slots, u64 count, u32 is_for_key, u32 is_reversed,
                const u64* counter, u8* won, u64* won_count) {
    const u64 row = thread_row();
    if (is_skipped(counter)) return;
    const Contest contest(table, is_for_key, is_reversed);
    bool has_won = false;
    if (row < count && slab::has_slot(slots[row])) {
        const u64 word = contest.is_wide ? *contest.word_8(slots[row]) : *contest.word_4(slots[row]);
        has_won = word == contest.rank(row);
        if (!has_won) slots[row] = slab::skipped;
    }
    if (row < count && won != nullptr) won[row] = has_won;
    count_flags(won_count, has_won);
}

// Stores values in slots. If several rows have a slot, it gets the value of any of them.
extern "C" __global__ void __launch_bounds__(threads)
    store_values(const __grid_constant__ SlabTable table, const slab::Slot* slots, u64 count, const Value* values,
                 const u64* counter) {
    const u64 row = thread_row();
    if (is_skipped(counter)) return;
    if (row >= count || !slab::has_slot(slots[row]) || !L::has_values) return;
    *slab::value_in<L>(slab::slab_of_slot(table, slots[row]), slab::position_of(slots[row])) = values[row];
}

// Counts the rows whose slot has another value. If there are none, the order of the rows does not matter.
extern "C" __global__ void __launch_bounds__(threads)
    count_others(const __grid_constant__ SlabTable table, const slab::Slot* slots, u64 count, const Value* values,
                 u64* counter) {
    const u64 row = thread_row();
    bool is_other = false;
    if (L::has_values && row < count && slab::has_slot(slots[row])) {
        is_other =
            *slab::value_in<L>(slab::slab_of_slot(table, slots[row]), slab::position_of(slots[row])) != values[row];
    }
    count_flags(counter, is_other);
}

// Empties the slots of keys. `found`: whether the row has emptied its slot. counts: rows that have, and rows whose slot
// another row has emptied. If there are any of these, a contest decides which row of a key has erased it.
extern "C" __global__ void __launch_bounds__(threads)
    erase_slots(const __grid_constant__ SlabTable table, const slab::Slot* slots, u64 count, const Key* keys, u8* found,
                u64* counts) {
    const u64 row = thread_row();
    const bool is_located = row < count && slab::has_slot(slots[row]);
    bool is_erased = false;
    if (is_located) {
        u8* const slab = slab::slab_of_slot(table, slots[row]);
        const u32 position = slab::position_of(slots[row]);
        const Key key = slab::stored_key<L>(table, keys[row]).key;
        is_erased = slab::erase_key<L>(slab, position, key);
    }
    if (row < count) found[row] = is_erased;
    count_flags(counts, is_erased);
    count_flags(counts + 1, is_located && !is_erased);
}

// Empties slots. If `only_fresh`, those that the insertion of the same batch has filled.
extern "C" __global__ void __launch_bounds__(threads)
    clear_slots(const __grid_constant__ SlabTable table, const slab::Slot* slots, u64 count, u32 only_fresh) {
    const u64 row = thread_row();
    if (row >= count || !slab::has_slot(slots[row])) return;
    if (only_fresh != 0 && (slots[row] & slab::fresh) == 0) return;
    slab::clear_slot<L>(slab::slab_of_slot(table, slots[row]), slab::position_of(slots[row]));
}

// Reduces the values of slots by those of rows. The row that has inserted a key has stored its value already.
extern "C" __global__ void __launch_bounds__(threads)
    reduce_values(const __grid_constant__ SlabTable table, const slab::Slot* slots, u64 count, const Value* values,
                  u32 how) {
    const u64 row = thread_row();
    if (row >= count || !slab::has_slot(slots[row]) || (slots[row] & slab::fresh) != 0 || !L::has_values) return;
    Value* const held = slab::value_in<L>(slab::slab_of_slot(table, slots[row]), slab::position_of(slots[row]));
    slab::reduce_value(held, values[row], static_cast<slab::SlotReduction>(how));
}

// Moves the pairs of each list to as few slabs as they need; a group of lanes per bucket.
extern "C" __global__ void __launch_bounds__(threads) flush_lists(const __grid_constant__ SlabTable table) {
    const u64 bucket = thread_row() / slab::group_lanes;
    const bool is_active = bucket <= table.buckets;
    slab::flush_list<L>(table, is_active ? static_cast<u32>(bucket) : 0, is_active);
    if (thread_row() == 0) tile::store_relaxed(table.is_full, 0u);
}

// Returns whether a growing table already has the list of a key. `moved`: buckets whose lists it has, from 0 on.
HR_FN bool is_moved(const SlabTable& table, Key key, u32 moved) {
    return slab::bucket_of(table, seeded_hash(key, table.seed)) < moved;
}

// Gives keys the values in a growing table that they have in the old one, after a batch has changed this one. Only keys
// whose lists have moved take part. `failed`: counts rows without memory.
extern "C" __global__ void __launch_bounds__(threads)
    copy_pairs(const __grid_constant__ SlabTable table, const __grid_constant__ SlabTable old, const Key* keys,
               u64 count, u32 moved, u64* failed) {
    const u64 row = thread_row();
    const Key key = slab::key_of_row(keys, row, count);
    const slab::Match match = slab::search<L, true>(old, key, row < count && is_moved(table, key, moved));
    const bool is_held = match.slot != slab::no_slot;
    Value value = match.value;
    if constexpr (L::has_values && !L::is_paired) {
        if (is_held) value = *slab::value_in<L>(slab::slab_of_slot(old, match.slot), slab::position_of(match.slot));
    }
    const slab::Slot slot = slab::insert_absent<L>(table, {key, value}, is_held);
    if (L::has_values && is_held && slab::has_slot(slot) && (slot & slab::fresh) == 0) {
        *slab::value_in<L>(slab::slab_of_slot(table, slot), slab::position_of(slot)) = value;
    }
    count_flags(failed, is_held && slot == slab::no_slot);
}

// Writes the slots in a growing table of keys that the old one no longer has. The slot is no_slot for other keys, and
// for those whose lists have not moved.
extern "C" __global__ void __launch_bounds__(threads)
    locate_copies(const __grid_constant__ SlabTable table, const __grid_constant__ SlabTable old, const Key* keys,
                  u64 count, u32 moved, slab::Slot* slots) {
    const u64 row = thread_row();
    const Key key = slab::key_of_row(keys, row, count);
    const bool has_moved = row < count && is_moved(table, key, moved);
    const bool is_held = slab::search<L, true>(old, key, has_moved).slot != slab::no_slot;
    const slab::Match match = slab::search<L, true>(table, key, has_moved && !is_held);
    if (row < count) slots[row] = match.slot;
}
