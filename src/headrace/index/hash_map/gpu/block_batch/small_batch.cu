// Inserts, replaces, erases or mixes the rows of a batch by one block in one launch, at most one row a thread.
//
// Bytes moved: those of insert_pairs (hash_map.cu), and a sector of 32 bytes for each repeated key. The time is that of
// the longest chain of dependent accesses: each group of lanes serves 8 rows one after the other. So the first slabs
// of all rows are prefetched. The bounds of launches name one block for each multiprocessor: else the compiler leaves
// registers to a second one, and apply_rows spills.
#include "index/hash_map/gpu/block_batch/block_upsert.cuh"
#include "index/hash_map/gpu/mixed_rows.cuh"

using namespace headrace;

using slab::Key, slab::L, slab::Value;
using slab::key_of_row, slab::threads;

constexpr u32 no_row = ~0u;

// Returns the first row of the block that has the item of a thread's row, or `row` for a thread without one. A table in
// shared memory has a row of each item. If there are equal items, the warps then add their rows one after another. The
// table has the last row of each item that was added. All threads of the block take part.
//
// `items`: in shared memory, one a row. `next`: gets for each row the next one with the same item, or `no_row`.
template <class Item>
HR_FN u32 first_row(const Item* items, u32 row, bool is_active, u32* next) {
    constexpr u32 places = 2 * threads;
    __shared__ u32 rows[places];
    for (u32 i = row; i < places; i += threads) rows[i] = no_row;
    next[row] = no_row;
    __syncthreads();
    u32 place = static_cast<u32>(u64{items[row]} * golden_ratio >> 32) % places;
    while (is_active) {
        const u32 other = atomicCAS(rows + place, no_row, row);
        if (other == no_row) break;
        if (items[other] == items[row]) {
            atomicMin(rows + place, row);
            break;
        }
        place = (place + 1) % places;
    }
    __syncthreads();
    const u32 first = is_active ? rows[place] : row;
    if (__syncthreads_or(first != row) == 0) return first;
    if (is_active) rows[place] = no_row;
    const u32 alike = __match_any_sync(tile::all_lanes, is_active ? place : places + tile::lane());
    const u32 before = alike & low_mask(tile::lane());
#pragma unroll 1
    for (u32 warp = 0; warp < threads / tile::lanes; ++warp) {
        __syncthreads();
        if (warp != tile::warp()) continue;
        const u32 last = before != 0 ? row - tile::lane() + 31 - __clz(before) : rows[place];
        if (is_active && last != no_row) next[last] = row;
        __syncwarp();
        if (is_active && alike >> tile::lane() == 1) rows[place] = row;
    }
    __syncthreads();
    return first;
}

HR_FN bool is_of_floats(slab::SlotReduction how) { return how >= slab::SlotReduction::float_sum; }

// Reduces floats in the order of the rows. The thread of a key's first row has all rows of the key.
HR_FN void fold_floats(const SlabTable& table, slab::Slot slot, Value value, slab::SlotReduction how) {
    __shared__ slab::Slot slots[threads];
    __shared__ Value values[threads];
    __shared__ u32 next[threads];
    __shared__ u8 is_added[threads];  // of the first row of a key: whether the key was absent
    const u32 row = threadIdx.x;
    const slab::Slot own = slot & ~slab::fresh;
    slots[row] = slot == slab::no_slot ? slot : own;
    values[row] = value;
    is_added[row] = 0;
    const bool has_slot = slot != slab::no_slot;
    const u32 first = first_row(slots, row, has_slot, next);
    if (has_slot && (slot & slab::fresh) != 0) is_added[first] = 1;
    __syncthreads();
    if (!has_slot || first != row) return;
    const u32 step = static_cast<u32>(how) - static_cast<u32>(slab::SlotReduction::float_sum);
    const auto operation = static_cast<MapOperation>(static_cast<u32>(MapOperation::sum) + step);
    Value* const held = slab::value_in<L>(slab::slab_of_slot(table, own), slab::position_of(own));
    OptionalValue<Value> state{tile::load_relaxed(held), is_added[row] == 0};
    for (u32 at = row; at != no_row; at = next[at]) {
        state = operate(state, operation, NumberKind::floating, values[at]);
    }
    tile::store_relaxed(held, state.value);
}

// `answer`, in memory of the host: keys added, and rows without memory.
extern "C" __global__ void __launch_bounds__(threads, 1)
    upsert_rows(const __grid_constant__ SlabTable table, const Key* keys, const Value* values, u32 count, u32 how,
                u64* answer) {
    const u32 row = threadIdx.x;
    const Key key = key_of_row(keys, row, count);
    bool is_active = row < count;
    if (L::has_values && static_cast<slab::SlotReduction>(how) == slab::SlotReduction::first) {
        is_active &= slab::search<L>(table, key, is_active).slot == slab::no_slot;  // present keys keep their values
        __syncthreads();
    }
    if (is_active) tile::prefetch(slab::first_slab_at(table, slab::stored_key<L>(table, key).slab));
    const Value value = is_active && L::has_values ? values[row] : Value{0};
    const auto reduction = static_cast<slab::SlotReduction>(how);
    slab::BlockCounts found;
    if (L::has_values && is_of_floats(reduction)) {
        const slab::BlockSlot inserted = slab::insert_by_block<L>(table, {{key, value}, row, is_active});
        found = inserted.counts;
        if constexpr (L::has_values) {
            if (inserted.has_repeated) fold_floats(table, inserted.slot, value, reduction);
        }
    } else {
        found = slab::upsert_by_block<L>(table, {{key, value}, row, is_active}, reduction);
    }
    if (row == 0) {
        answer[0] = found.added;
        answer[1] = found.failed;
    }
}

// Replaces the values of present keys, and writes for each row whether its key is present. The last row of a key wins.
extern "C" __global__ void __launch_bounds__(threads, 1)
    replace_rows(const __grid_constant__ SlabTable table, const Key* keys, const Value* values, u32 count, u8* found) {
    const u32 row = threadIdx.x;
    const slab::Match match = slab::search<L>(table, key_of_row(keys, row, count), row < count);
    const bool is_located = row < count && match.slot != slab::no_slot;
    if (row < count) found[row] = is_located;
    __syncthreads();  // all searches have ended
    if constexpr (L::has_values) {
        u8* const slab = slab::slab_of_slot(table, is_located ? match.slot : 0);
        slab::keep_in_order(is_located ? slab::value_in<L>(slab, slab::position_of(match.slot)) : nullptr,
                            is_located ? values[row] : Value{0}, row, slab::SlotReduction::last);
    }
}

// Erases keys, and writes for each row whether its key was present before it. `answer`, in memory of the host: erased
// keys.
extern "C" __global__ void __launch_bounds__(threads, 1)
    erase_rows(const __grid_constant__ SlabTable table, const Key* keys, u32 count, u8* found, u64* answer) {
    const u32 row = threadIdx.x;
    const slab::Match match = slab::search<L>(table, key_of_row(keys, row, count), row < count);
    const bool is_located = row < count && match.slot != slab::no_slot;
    u8* const slab = slab::slab_of_slot(table, is_located ? match.slot : 0);
    __syncthreads();  // all searches have ended
    const bool has_won =
        slab::wins_word(is_located ? slab::key_in<L>(slab, slab::position_of(match.slot)) : nullptr, row);
    if (has_won) slab::clear_slot<L>(slab, slab::position_of(match.slot));
    if (row < count) found[row] = has_won;
    const u32 erased = static_cast<u32>(__syncthreads_count(has_won));
    if (row == 0) answer[0] = erased;
}

// Runs mixed operations in their order. The thread of a key's first row runs all operations of the key. Insertions run
// while the erased pairs are still there, so nothing has changed if slabs run out.
//
// `answer`, in memory of the host: keys added, rows without memory, keys erased, and 1 if an operation is unknown. Then
// no operation is run.
extern "C" __global__ void __launch_bounds__(threads, 1)
    apply_rows(const __grid_constant__ SlabTable table, const __grid_constant__ MixedTask task, u64* answer) {
    __shared__ Key keys[threads];
    __shared__ Value values[threads];
    __shared__ u8 operations[threads];
    __shared__ u32 next[threads];
    const u32 row = threadIdx.x, count = static_cast<u32>(task.count);
    const bool is_inside = row < count;
    slab::MixedOperation<L> own{};
    if (is_inside) own = slab::operation_of(task, row);
    const Key key = own.given.key;
    keys[row] = key;
    values[row] = own.given.value;
    operations[row] = static_cast<u8>(own.operation);
    const u32 number = static_cast<u32>(own.operation);
    const bool is_known = own.operation == MapOperation::find || (number < 64 && (task.known >> number & 1) != 0);
    if (__syncthreads_or(!is_known) != 0) {
        if (row < 4) answer[row] = row == 3;
        return;
    }
    const slab::Match match = slab::search<L>(table, key, is_inside);
    const bool is_first = first_row(keys, row, is_inside, next) == row && is_inside;
    const OptionalValue<Value> before = slab::held_by(table, match);
    OptionalValue<Value> state = before;
    for (u32 at = is_first ? row : no_row; at != no_row; at = next[at]) {
        slab::write_result(task, at, state);
        state = operate(state, static_cast<MapOperation>(operations[at]), own.kind, values[at]);
    }
    __syncthreads();  // all searches have ended
    const bool is_added = is_first && state.is_present && !before.is_present;
    const bool is_erased = is_first && !state.is_present && before.is_present;
    const slab::BlockSlot inserted = slab::insert_by_block<L>(table, {{key, state.value}, row, is_added});
    if (inserted.counts.failed == 0 && is_first && before.is_present) {
        u8* const slab = slab::slab_of_slot(table, match.slot);
        const u32 position = slab::position_of(match.slot);
        if (is_erased) {
            slab::clear_slot<L>(slab, position);
        } else if (L::has_values && state.value != before.value) {
            tile::store_relaxed(slab::value_in<L>(slab, position), state.value);
        }
    }
    const u32 erased = static_cast<u32>(__syncthreads_count(is_erased));
    if (row != 0) return;
    answer[0] = inserted.counts.added;
    answer[1] = inserted.counts.failed;
    answer[2] = erased;
    answer[3] = 0;
}
