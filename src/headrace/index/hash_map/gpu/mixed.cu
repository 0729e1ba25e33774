// Runs batches of mixed operations on the slab hash. In the order of the batch: replay_operations, then insert_pairs of
// hash_map.cu and finish_operations. Side by side: check_operations and run_operations.
//
// Bytes moved, for keys of width k and values of width v. In order, after the sort: 2 (k + v) + 15 for each operation.
// For each distinct key, 128 for each slab of its list, twice if the key is added. Side by side: k + 2 v + 7 for each
// operation, 128 for each slab, and 64 for the lock.
#include "gpu/block/turns.cuh"
#include "index/hash_map/gpu/batch_rows.cuh"
#include "index/hash_map/gpu/mixed_ref.cuh"
#include "index/hash_map/gpu/mixed_task.hpp"

using namespace headrace;

using slab::count_flags, slab::thread_row, slab::threads;
using slab::Key, slab::L, slab::Value;

static __device__ __forceinline__ Key key_of(const MixedTask& task, u64 row) {
    return static_cast<const Key*>(task.keys)[row];
}

static __device__ __forceinline__ slab::MixedOperation<L> operation_of(const MixedTask& task, u64 row) {
    Value value{0};
    if constexpr (L::has_values) value = static_cast<const Value*>(task.values)[row];
    return {static_cast<MapOperation>(task.operations[row]),
            static_cast<NumberKind>(task.kind),
            {key_of(task, row), value}};
}

static __device__ __forceinline__ void write_result(const MixedTask& task, u64 row, const OptionalValue<Value>& held) {
    task.found[row] = held.is_present;
    if constexpr (L::has_values) static_cast<Value*>(task.held)[row] = held.value;
}

// In the result of replay_operations: the slot of a key that is to be emptied.
constexpr u32 is_erased = slab::fresh;

// Computes the value of each distinct key after the batch without a change of the table. `rows`: the rows by key, those
// of a key in their order. The thread of a key's first row runs all operations of the key.
//
// Written for the first row of each key: `finals`, the value; `slots`, no_slot if the key is to be inserted; and
// `old_slots`, the slot whose value is to be replaced, or with `is_erased` to be emptied. Other rows get `skipped`.
// counts[3]: keys to be inserted.
extern "C" __global__ void __launch_bounds__(threads)
    replay_operations(const __grid_constant__ SlabTable table, const __grid_constant__ MixedTask task, const u32* rows,
                      u32* slots, u32* old_slots, Value* finals, u64* counts) {
    const u64 place = thread_row();
    const bool is_inside = place < task.count;
    const u32 row = is_inside ? rows[place] : 0;
    const Key key = is_inside ? key_of(task, row) : Key{0};
    const bool is_first = is_inside && (place == 0 || key_of(task, rows[place - 1]) != key);
    const slab::Match match = slab::search<L>(table, key, is_first);
    bool is_added = false;
    if (is_first) {
        const bool was_present = match.slot != slab::no_slot;
        OptionalValue<Value> state{Value{0}, was_present};
        if constexpr (L::has_values) {
            if (was_present) state.value = *slab::value_in<L>(slab::slab_of_slot(table, match.slot), match.slot & 31);
        }
        for (u64 at = place; at < task.count && key_of(task, rows[at]) == key; ++at) {
            write_result(task, rows[at], state);
            const auto own = operation_of(task, rows[at]);
            state = operate(state, own.operation, own.kind, own.given.value);
        }
        is_added = state.is_present && !was_present;
        if constexpr (L::has_values) finals[row] = state.value;
        slots[row] = is_added ? slab::no_slot : slab::skipped;
        old_slots[row] = !was_present ? slab::skipped : state.is_present ? match.slot : match.slot | is_erased;
    } else if (is_inside) {
        slots[row] = old_slots[row] = slab::skipped;
    }
    count_flags(counts + 3, is_added);
}

// Stores the values of keys that were present, and empties the slots of erased ones. If the insertion of the other keys
// failed (counts[1]), nothing changes. counts[4]: erased keys.
extern "C" __global__ void __launch_bounds__(threads)
    finish_operations(const __grid_constant__ SlabTable table, u64 count, const u32* old_slots, const Value* finals,
                      u64* counts) {
    const u64 row = thread_row();
    if (counts[1] != 0) return;
    const u32 slot = row < count ? old_slots[row] : slab::skipped;
    const bool is_erasure = slab::has_slot(slot) && (slot & is_erased) != 0;
    if (is_erasure) {
        slab::clear_slot<L>(slab::slab_of_slot(table, slot), slot & 31);
    } else if (L::has_values && slab::has_slot(slot)) {
        *slab::value_in<L>(slab::slab_of_slot(table, slot), slot & 31) = finals[row];
    }
    count_flags(counts + 4, is_erasure);
}

constexpr u32 checked_turns = 16;

// Counts the threads that find an operation which the map does not have, in counts[5]. A thread checks 16.
extern "C" __global__ void __launch_bounds__(threads)
    check_operations(const __grid_constant__ SlabTable, const __grid_constant__ MixedTask task, u64* counts) {
    u32 unknown = 0;
#pragma unroll
    for (u32 turn = 0; turn < checked_turns; ++turn) {
        const u64 row = tile::item_of_turn<threads, checked_turns>(turn);
        if (row >= task.count) continue;
        const u32 operation = task.operations[row];
        unknown += operation > 63 || !(task.known >> operation & 1) ? 1 : 0;
    }
    count_flags(counts + 5, unknown != 0);
}

// Runs the operations that are not done, side by side; none if one is unknown. `locks`: 0 for each bucket and one more.
// counts: added keys, operations without memory, erased keys.
extern "C" __global__ void __launch_bounds__(threads)
    run_operations(const __grid_constant__ SlabTable table, const __grid_constant__ MixedTask task, u32* locks,
                   u8* done, u32* tickets, u64* counts) {
    if (counts[5] != 0) return;
    const u64 row = thread_row();
    const bool is_active = row < task.count && done[row] == 0;
    slab::MixedOperation<L> own{};
    if (is_active) own = operation_of(task, row);
    const slab::MixedResult<L> result = slab::run_operation<L>(table, locks, own, is_active);
    if (is_active && result.is_done) {
        write_result(task, row, result.held);
        tickets[row] = result.ticket;
        done[row] = 1;
    }
    count_flags(counts, result.is_added);
    count_flags(counts + 1, is_active && !result.is_done);
    count_flags(counts + 2, result.is_erased);
}
