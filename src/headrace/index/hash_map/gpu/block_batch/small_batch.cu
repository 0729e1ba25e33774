// Inserts, replaces or erases a batch of at most one row a thread by one block, in one launch.
//
// Bytes moved: those of insert_pairs (hash_map.cu), and a sector of 32 bytes for each repeated key. The time is that of
// the longest chain of dependent accesses: each group of lanes serves 8 rows one after the other. So the first slabs
// of all rows are prefetched.
#include "index/hash_map/gpu/batch_rows.cuh"
#include "index/hash_map/gpu/block_batch/block_upsert.cuh"
#include "index/hash_map/rules/map_operation.hpp"

using namespace headrace;

using slab::Key, slab::L, slab::Value;
using slab::key_of_row, slab::threads;

HR_FN bool is_of_floats(slab::SlotReduction how) { return how >= slab::SlotReduction::float_sum; }

// Reduces floats in the order of the rows. The thread of a key's first row looks at all later rows of the block.
HR_FN void fold_floats(const SlabTable& table, slab::Slot slot, Value value, u32 count, slab::SlotReduction how) {
    __shared__ slab::Slot slots[threads];
    __shared__ Value values[threads];
    __shared__ u8 is_added[threads];  // of the first row of a key: whether the key was absent
    const u32 row = threadIdx.x;
    const slab::Slot own = slot & ~slab::fresh;
    slots[row] = slot == slab::no_slot ? slot : own;
    values[row] = value;
    is_added[row] = 0;
    __syncthreads();
    u32 first = 0;
    while (slots[first] != slots[row]) ++first;
    if (slot != slab::no_slot && (slot & slab::fresh) != 0) is_added[first] = 1;
    __syncthreads();
    if (slot == slab::no_slot || first != row) return;
    const u32 step = static_cast<u32>(how) - static_cast<u32>(slab::SlotReduction::float_sum);
    const auto operation = static_cast<MapOperation>(static_cast<u32>(MapOperation::sum) + step);
    Value* const held = slab::value_in<L>(slab::slab_of_slot(table, own), slab::position_of(own));
    OptionalValue<Value> state{tile::load_relaxed(held), is_added[row] == 0};
    for (u32 at = row; at < count; ++at) {
        if (slots[at] == own) state = operate(state, operation, NumberKind::floating, values[at]);
    }
    tile::store_relaxed(held, state.value);
}

// `answer`, in memory of the host: keys added, and rows without memory.
extern "C" __global__ void __launch_bounds__(threads)
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
            if (inserted.has_repeated) fold_floats(table, inserted.slot, value, count, reduction);
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
extern "C" __global__ void __launch_bounds__(threads)
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
extern "C" __global__ void __launch_bounds__(threads)
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
