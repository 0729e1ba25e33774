// Runs batches of mixed operations on the slab hash. In the order of the batch: replay_operations, then insert_pairs of
// hash_map.cu and finish_operations. In any order: list_changes, run_changes, and then all searches by run_searches.
// These need no lock, and each warp has operations of one kind. Results are written row by row in the last launch,
// because writes of single rows between others move whole sectors of 32 bytes.
//
// Bytes moved, for keys of width k and values of width v. In order, after the sort: 2 (k + v) + 15 for each operation.
// For each distinct key, 128 for each slab of its list, twice if the key is added. In any order: k + v + 3 for each
// search, and 128 for each slab. For each change, 2 k + 4 v + 24, 128 for each slab, 64 for the lock, and a sector of
// 32 bytes that is written back.
#include "index/hash_map/gpu/mixed_rows.cuh"

using namespace headrace;

using slab::count_flags, slab::thread_row, slab::threads;
using slab::held_by, slab::key_of, slab::operation_of, slab::write_result;
using slab::Key, slab::L, slab::Value;

// In the result of replay_operations: the slot of a key that is to be emptied.
constexpr slab::Slot is_erased = slab::fresh;

// The operations of a key from a place in the order of all rows on, one a lane, if the key has that many.
struct ReplayedRows {
    u32 row;
    bool is_own;  // whether the lane has an operation of the key
    slab::MixedOperation<L> operation;
};

HR_FN ReplayedRows rows_of_key(const MixedTask& task, const u32* rows, u64 begin, Key key) {
    const u64 at = begin + tile::lane();
    ReplayedRows found{at < task.count ? rows[at] : 0, false, {}};
    found.is_own = at < task.count && key_of(task, found.row) == key;
    if (found.is_own) found.operation = operation_of(task, found.row);
    return found;
}

// Runs the operations of a key from `begin` on by a warp, and writes their results. Returns the state after them. The
// operations are run one by one, but their rows are loaded side by side, and before those of the 32 rows before them.
HR_FN OptionalValue<Value> replay_by_warp(const MixedTask& task, const u32* rows, u64 begin, Key key,
                                          OptionalValue<Value> state) {
    ReplayedRows own = rows_of_key(task, rows, begin, key);
    for (u32 count = tile::lanes; count == tile::lanes; begin += tile::lanes) {
        const ReplayedRows next = rows_of_key(task, rows, begin + tile::lanes, key);
        count = __popc(__ballot_sync(tile::all_lanes, own.is_own));
        OptionalValue<Value> before = state;
        for (u32 source = 0; source < count; ++source) {
            if (tile::lane() == source) before = state;
            const u32 operation = tile::shuffle(static_cast<u32>(own.operation.operation), source);
            const Value given = tile::shuffle(own.operation.given.value, source);
            state = operate(state, static_cast<MapOperation>(operation), static_cast<NumberKind>(task.kind), given);
        }
        if (own.is_own) write_result(task, own.row, before);
        own = next;
    }
    return state;
}

constexpr u32 thread_turns = 8;  // operations of a key that one thread runs

// Computes the value of each distinct key after the batch without a change of the table. `rows`: the rows by key, those
// of a key in their order. The thread of a key's first row runs the first operations of the key, its warp all others.
//
// Written for the first row of each key: `finals`, the value; `slots`, no_slot if the key is to be inserted; and
// `old_slots`, the slot whose value is to be replaced, or with `is_erased` to be emptied. Other rows get `skipped`.
// counts[3]: keys to be inserted. Results are not written where task.held or task.found is null.
extern "C" __global__ void __launch_bounds__(threads)
    replay_operations(const __grid_constant__ SlabTable table, const __grid_constant__ MixedTask task, const u32* rows,
                      slab::Slot* slots, slab::Slot* old_slots, Value* finals, u64* counts) {
    const u64 place = thread_row();
    const bool is_inside = place < task.count;
    const u32 row = is_inside ? rows[place] : 0;
    const Key key = is_inside ? key_of(task, row) : Key{0};
    const bool is_first = is_inside && (place == 0 || key_of(task, rows[place - 1]) != key);
    const slab::Match match = slab::search<L>(table, key, is_first);
    OptionalValue<Value> state = held_by(table, match);
    bool is_left = is_first;
    for (u64 at = place; is_left && at < place + thread_turns; ++at) {
        is_left = at < task.count && key_of(task, rows[at]) == key;
        if (!is_left) break;
        write_result(task, rows[at], state);
        const auto own = operation_of(task, rows[at]);
        state = operate(state, own.operation, own.kind, own.given.value);
    }
    for (u32 left = __ballot_sync(tile::all_lanes, is_left); left != 0; left &= left - 1) {
        const u32 source = __ffs(left) - 1;
        const OptionalValue<Value> begun{tile::shuffle(state.value, source),
                                         tile::shuffle(static_cast<u32>(state.is_present), source) != 0};
        const u64 begin = tile::shuffle(place, source) + thread_turns;
        const OptionalValue<Value> ended = replay_by_warp(task, rows, begin, tile::shuffle(key, source), begun);
        if (tile::lane() == source) state = ended;
    }
    const bool was_present = match.slot != slab::no_slot;
    const bool is_added = is_first && state.is_present && !was_present;
    if (is_first) {
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
    finish_operations(const __grid_constant__ SlabTable table, u64 count, const slab::Slot* old_slots,
                      const Value* finals, u64* counts) {
    const u64 row = thread_row();
    if (counts[1] != 0) return;
    const slab::Slot slot = row < count ? old_slots[row] : slab::skipped;
    const bool is_erasure = slab::has_slot(slot) && (slot & is_erased) != 0;
    if (is_erasure) {
        slab::clear_slot<L>(slab::slab_of_slot(table, slot), slab::position_of(slot));
    } else if (L::has_values && slab::has_slot(slot)) {
        *slab::value_in<L>(slab::slab_of_slot(table, slot), slab::position_of(slot)) = finals[row];
    }
    count_flags(counts + 4, is_erasure);
}

constexpr u32 listed_turns = 16;

// Lists the rows of a batch that are no searches. counts[3]: their number. Each warp lists 512 rows in order. `firsts`:
// for each 32 rows, the place of the first change in the list. counts[5]: warps with an operation that the map lacks.
extern "C" __global__ void __launch_bounds__(threads)
    list_changes(const __grid_constant__ SlabTable, const __grid_constant__ MixedTask task, u32* rows, u32* firsts,
                 u64* counts) {
    const u64 first_row = thread_row() / tile::lanes * (tile::lanes * listed_turns);
    u32 changes[listed_turns], listed = 0;
    bool is_unknown = false;
#pragma unroll
    for (u32 turn = 0; turn < listed_turns; ++turn) {
        const u64 row = first_row + turn * tile::lanes + tile::lane();
        const u32 operation = row < task.count ? task.operations[row] : static_cast<u32>(MapOperation::find);
        const bool is_change = operation != static_cast<u32>(MapOperation::find);
        is_unknown |= is_change && (operation > 63 || !(task.known >> operation & 1));
        changes[turn] = __ballot_sync(tile::all_lanes, is_change);
        listed += __popc(changes[turn]);
    }
    u32 place = 0;
    if (tile::lane() == 0 && listed != 0) place = static_cast<u32>(atomicAdd(counts + 3, static_cast<u64>(listed)));
    place = tile::shuffle(place, 0);
#pragma unroll
    for (u32 turn = 0; turn < listed_turns; ++turn) {
        const u64 row = first_row + turn * tile::lanes + tile::lane();
        if (tile::lane() == 0 && row < task.count) firsts[row / tile::lanes] = place;
        if ((changes[turn] >> tile::lane() & 1) != 0) {
            rows[place + __popc(changes[turn] & low_mask(tile::lane()))] = static_cast<u32>(row);
        }
        place += __popc(changes[turn]);
    }
    if (__ballot_sync(tile::all_lanes, is_unknown) != 0 && tile::lane() == 0) atomicAdd(counts + 5, u64{1});
}

// Runs the listed changes that are not done, side by side; none if one is unknown. `locks`: 0 for each bucket and one
// more. `states`: the state of each change, by its place in the list (mixed_ref.cuh). `held`: the value before it.
// counts: added keys, changes without memory, erased keys; counts[3]: listed rows.
extern "C" __global__ void __launch_bounds__(threads)
    run_changes(const __grid_constant__ SlabTable table, const __grid_constant__ MixedTask task, const u32* rows,
                u32* locks, u32* states, Value* held, u64* counts) {
    const u64 place = thread_row(), listed = counts[3];
    if (counts[5] != 0 || place - threadIdx.x >= listed) return;
    const bool is_active = place < listed && states[place] == slab::not_done;
    slab::MixedOperation<L> own{};
    if (is_active) own = operation_of(task, rows[place]);
    const slab::MixedResult<L> result = slab::run_operation<L>(table, locks, own, is_active);
    if (is_active && result.is_done) {
        states[place] = 2 * result.ticket + result.held.is_present;
        if constexpr (L::has_values) held[place] = result.held.value;
    }
    count_flags(counts, result.is_added);
    count_flags(counts + 1, is_active && !result.is_done);
    count_flags(counts + 2, result.is_erased);
}

// Runs the searches of a batch, and writes the results of all rows, those of changes from their places in the list.
extern "C" __global__ void __launch_bounds__(threads)
    run_searches(const __grid_constant__ SlabTable table, const __grid_constant__ MixedTask task, const u32* firsts,
                 const u32* states, const Value* held, const u64* counts) {
    const u64 row = thread_row();
    const bool is_inside = row < task.count;
    const bool is_change = is_inside && task.operations[row] != static_cast<u8>(MapOperation::find);
    const Key key = is_inside ? key_of(task, row) : Key{0};
    const u32 changes = __ballot_sync(tile::all_lanes, is_change);
    const slab::Match match = slab::search<L, true>(table, key, is_inside && !is_change);
    if (!is_inside || counts[5] != 0) return;
    OptionalValue<Value> state = held_by(table, match);
    if (is_change) {
        const u32 place = firsts[row / tile::lanes] + __popc(changes & low_mask(tile::lane()));
        state.is_present = (states[place] & 1) != 0;
        if constexpr (L::has_values) state.value = held[place];
    }
    write_result(task, row, state);
}
