// Fills and searches the slab hash with several values for a key, one operation per thread (multi_map_ref.cuh).
//
// Bytes moved, for keys of width k and values of width v. An insertion: k + v + 4, 128 for each of one or two slabs,
// and a sector of 32 bytes that is written back. A postponed one: 2 k + 12 more, a sort of k and 4 bytes, and a sector
// of values and one of slots for the random rows. A search: k + 8, 128 for each slab of the list, and v + 4 for each
// value. Mixed operations run in order: replay_lists, list_slots, append_pairs, and then clear_slots of
// hash_map_updates.cu. They move k + v + 25 for each operation, and the list of each distinct key once or twice.
#include "index/hash_map/gpu/multimap/list_replay.cuh"

using namespace headrace;

using slab::count_flags, slab::key_of_row, slab::thread_row, slab::threads;
using slab::each_own_position, slab::ListVisitor;
using slab::Key, slab::L, slab::Value;

// A visitor of lists that stops if a list of this or another thread has `max_slabs` slabs, and sets `is_long`.
struct ShortListVisitor {
    u32 max_slabs;
    u32* is_long;
    u32 slabs = 0;

    __device__ bool goes_on() {
        if (++slabs == max_slabs) tile::store_relaxed(is_long, 1u);
        return slabs % tile::lanes != 0 || tile::load_relaxed(is_long) == 0;
    }
};

// Counts the values.
struct CountVisitor : ShortListVisitor {
    u64 count;

    __device__ void visit(u32, u32 positions, u32 source) {
        if (tile::lane() == source) count += __popc(positions);
    }
};

// Writes the values of a row, and the row's number for each of them, from `to` on.
struct CopyVisitor : ListVisitor {
    const SlabTable& table;
    Value* values;
    u32* rows;
    u32 row;
    u64 to;

    __device__ void visit(u32 slab, u32 positions, u32 source) {
        const u64 begin = tile::shuffle(to, source);
        const u32 of_row = tile::shuffle(row, source);
        each_own_position(positions, [&](u32 position) {
            const u64 at = begin + __popc(positions & low_mask(position));
            values[at] = *slab::value_in<L>(slab::slab_at(table, slab), position);
            rows[at] = of_row;
        });
        if (tile::lane() == source) to += __popc(positions);
    }
};

// Empties the slots, and counts them.
struct ClearVisitor : ShortListVisitor {
    const SlabTable& table;
    u64 count;

    __device__ void visit(u32 slab, u32 positions, u32 source) {
        each_own_position(positions, [&](u32 position) { slab::clear_slot<L>(slab::slab_at(table, slab), position); });
        if (tile::lane() == source) count += __popc(positions);
    }
};

// The slots of keys, and for each slot the row of its key and its value's code. These two are null if they are not
// needed.
struct ListedSlots {
    slab::Slot* slots;
    u32* rows;
    Value* codes;
};

// Lists the slots of a row's key from `to` on.
struct SlotVisitor : ListVisitor {
    const SlabTable& table;
    const KeyRule<Value>& order;
    const ListedSlots& listed;
    u32 row;
    u64 to;

    __device__ void visit(u32 slab, u32 positions, u32 source) {
        const u64 begin = tile::shuffle(to, source);
        const u32 of_row = tile::shuffle(row, source);
        each_own_position(positions, [&](u32 position) {
            const u64 at = begin + __popc(positions & low_mask(position));
            listed.slots[at] = slab::slot_number(slab, position);
            if (listed.rows == nullptr) return;
            listed.rows[at] = of_row;
            listed.codes[at] = order.code(*slab::value_in<L>(slab::slab_at(table, slab), position));
        });
        if (tile::lane() == source) to += __popc(positions);
    }
};

HR_FN void add_of_warp(u64* counter, u64 number) {
    const u64 sum = tile::reduce_warp<Sum<u64>>(number);
    if (tile::lane() == 0 && sum != 0) atomicAdd(counter, sum);
}

// Writes the state of a key before an operation: its smallest value if that is wanted, or whether it has one.
HR_FN void write_state(const MixedTask& task, u32 row, MapOperation operation, const slab::ListReplay& replay) {
    const bool is_wanted = operation == MapOperation::find || operation == MapOperation::erase;
    if (task.found != nullptr) task.found[row] = replay.count() != 0;
    if (task.held == nullptr) return;
    static_cast<Value*>(task.held)[row] = is_wanted && replay.count() != 0 ? replay.first() : Value{0};
}

// Inserts pairs and writes their slots; if the form is `located`, those of rows whose slot is no_slot. Pairs of a key
// that most others have too are postponed: their rows get no_slot. counts[0]: their number, counts[1]: rows without
// memory. A block postpones all rows if that number exceeds `many` and an eighth of the rows before it. Their sort then
// takes less time. Other parameters are those of insert_pairs and `insert_pair`.
extern "C" __global__ void __launch_bounds__(threads)
    append_pairs(const __grid_constant__ SlabTable table, const Key* keys, const Value* values, u64 count, u32 form,
                 slab::Slot* slots, u64* counts, u32 max_looks, u64 many) {
    const u64 row = thread_row(), postponed = tile::load_relaxed(counts);
    const bool is_late = postponed > many && postponed * 8 > static_cast<u64>(blockIdx.x) * threads;
    const bool is_active = row < count && ((form & slab::located) == 0 || slots[row] == slab::no_slot);
    const Value value = is_active ? values[row] : Value{0};
    const Key key = key_of_row(keys, row, count, form, table.seed);
    const slab::Appended found = slab::insert_pair<L>(table, {key, value}, is_active && !is_late, max_looks);
    const bool is_postponed = is_active && (is_late || found.is_postponed);
    if (is_active) slots[row] = found.slot;
    count_flags(counts, is_postponed);
    count_flags(counts + 1, is_active && found.slot == slab::no_slot && !is_postponed);
}

// Writes the keys and the numbers of the rows with slots, or of those without, in no order. `counter`: 0 before.
extern "C" __global__ void __launch_bounds__(threads)
    list_rows(const __grid_constant__ SlabTable table, const Key* keys, u64 count, const slab::Slot* slots,
              u32 has_slots, Key* listed_keys, u32* listed_rows, u64* counter) {
    const u64 row = thread_row();
    const bool is_listed = row < count && (has_slots != 0 ? slab::has_slot(slots[row]) : slots[row] == slab::no_slot);
    const u32 listed = __ballot_sync(tile::all_lanes, is_listed);
    u64 begin = 0;
    if (tile::lane() == 0 && listed != 0) begin = atomicAdd(counter, static_cast<u64>(__popc(listed)));
    const u64 at = tile::shuffle(begin, 0) + __popc(listed & low_mask(tile::lane()));
    if (!is_listed) return;
    listed_keys[at] = keys[row];
    listed_rows[at] = static_cast<u32>(row);
}

// Fills slabs with the pairs of frequent keys, a group of lanes a slab, and puts each into its list by one atomic
// operation. The keys are sorted. A group has as many rows as a slab has slots, and does nothing if their keys differ.
// So at the most twice that many rows of a key remain without a slot, or more if memory is missing.
//
// For example, slabs with 3 slots and the keys 1 4 4 4 4 4 4 4 9 become one slab with three values of 4. All other rows
// remain.
//
// `keys`, `rows`: those of list_postponed, by key. `values`, `slots`: of all rows of the batch. `form`: a BatchForm.
extern "C" __global__ void __launch_bounds__(threads)
    append_slabs(const __grid_constant__ SlabTable table, const Key* keys, const u32* rows, u64 count,
                 const Value* values, u32 form, slab::Slot* slots) {
    const u64 begin = thread_row() / slab::group_lanes * L::slots;
    const bool is_whole = begin + L::slots <= count && keys[begin] == keys[begin + L::slots - 1];
    const Key key = key_of_row(keys, begin, count, form, table.seed);
    const slab::StoredKey<L> home = slab::stored_key<L>(table, key);
    slab::Allocator allocator(table);
    const u32 slab = tile::shuffle(allocator.allocate(is_whole && slab::group_lane() == 0), slab::first_lane());
    if (slab != no_slab) {
        for (u32 number = slab::group_lane(); number < L::slots; number += slab::group_lanes) {
            const u32 row = rows[begin + number];
            const u32 position = number % L::lane_keys * slab::group_lanes + number / L::lane_keys;
            slab::store_pair<L>(slab::slab_at(table, slab), position, {home.key, values[row]});
            slots[row] = slab::slot_number(slab, position) | slab::fresh;
        }
    }
    __threadfence();  // readers that see the slab's number see its pairs
    __syncwarp();
    if (slab != no_slab && slab::group_lane() == 0) slab::put_full<L>(table, home, slab);
}

// Writes the number of values of each key. If a list has `max_slabs` slabs, `is_long` is set, and counts are undefined.
extern "C" __global__ void __launch_bounds__(threads)
    count_values(const __grid_constant__ SlabTable table, const Key* keys, u64 count, u32 max_slabs, u32* is_long,
                 u64* counts) {
    const u64 row = thread_row();
    CountVisitor visitor{{max_slabs, is_long}, 0};
    slab::visit_lists<L>(table, key_of_row(keys, row, count), row < count, visitor);
    if (row < count) counts[row] = visitor.count;
}

// Writes the same by all keys of the table in order, and the position of each row's first value in that order.
extern "C" __global__ void __launch_bounds__(threads)
    count_sorted(const __grid_constant__ SlabTable, const Key* sorted, u64 size, const Key* keys, u64 count,
                 u64* begins, u64* counts) {
    const u64 row = thread_row();
    if (row >= count) return;
    const Key key = keys[row];
    const u64 begin = tile::partition_point(0, size, [&](u64 i) { return sorted[i] < key; });
    const u64 end = tile::partition_point(begin, size, [&](u64 i) { return sorted[i] == key; });
    begins[row] = begin;
    counts[row] = end - begin;
}

// Copies as copy_values does, from the values in the order of their keys: a thread for each of `total` values.
extern "C" __global__ void __launch_bounds__(threads)
    copy_sorted(const __grid_constant__ SlabTable, const Value* sorted, const u64* begins, u64 count,
                const u64* offsets, u64 total, Value* values, u32* rows) {
    const u64 at = thread_row();
    if (at >= total) return;
    const u64 row = tile::partition_point(0, count, [&](u64 i) { return offsets[i + 1] <= at; });
    values[at] = sorted[begins[row] + at - offsets[row]];
    rows[at] = static_cast<u32>(row);
}

// Writes the values of each key from offsets[row] on, in no order, and the row of each value.
extern "C" __global__ void __launch_bounds__(threads)
    copy_values(const __grid_constant__ SlabTable table, const Key* keys, u64 count, const u64* offsets, Value* values,
                u32* rows) {
    const u64 row = thread_row();
    CopyVisitor visitor{{}, table, values, rows, static_cast<u32>(row), row < count ? offsets[row] : 0};
    slab::visit_lists<L>(table, key_of_row(keys, row, count), row < count, visitor);
}

// Erases the values of the keys whose row has a slot, and adds their numbers to `counts` and `total`. No two rows with
// slots have one key. If a list has `max_slabs` slabs, `is_long` is set, and values are left.
extern "C" __global__ void __launch_bounds__(threads)
    erase_values(const __grid_constant__ SlabTable table, const Key* keys, u64 count, const slab::Slot* slots,
                 u32 max_slabs, u32* is_long, u64* counts, u64* total) {
    const u64 row = thread_row();
    const bool is_active = row < count && slab::has_slot(slots[row]);
    ClearVisitor visitor{{max_slabs, is_long}, table, 0};
    slab::visit_lists<L>(table, key_of_row(keys, row, count), is_active, visitor);
    if (is_active) counts[row] += visitor.count;
    add_of_warp(total, visitor.count);
}

// Does the same for `count` keys in order by a look at all slabs, a group of lanes per slab. `rows`: the rows of the
// keys. So a long list is not walked by one group alone.
extern "C" __global__ void __launch_bounds__(threads)
    erase_sorted(const __grid_constant__ SlabTable table, u32 slab_count, const Key* sorted, const u32* rows, u64 count,
                 u64* counts, u64* total) {
    const u32 group = static_cast<u32>(thread_row() / slab::group_lanes);
    const bool is_active = group < slab_count;
    u8* const slab = slab::slab_at(table, is_active ? group : 0);
    const tile::WordPair words = slab::load_constant(slab + 16 * slab::group_lane());
    const u32 empties = L::positions_of(words, L::empty_key);
    const u32 positions = is_active ? L::valid_positions() & ~empties : 0;
    const bool is_escaped = slab::is_in_escape_list(table, group, words);
    u64 erased = 0;
    for (u32 p = 0; p < L::lane_keys; ++p) {
        const u32 position = p * slab::group_lanes + slab::group_lane();
        u32 row = slab::no_row;
        if ((positions >> position & 1) != 0) {
            const Key key = is_escaped ? L::empty_key : L::lane_key(words, p);
            const u64 at = tile::partition_point(0, count, [&](u64 i) { return sorted[i] < key; });
            if (at < count && sorted[at] == key) row = rows[at];
        }
        const u32 alike = __match_any_sync(tile::all_lanes, row);
        if (row == slab::no_row) continue;
        slab::clear_slot<L>(slab, position);
        ++erased;
        if (tile::lane() + 1 == static_cast<u32>(__ffs(alike))) {
            atomicAdd(counts + row, static_cast<u64>(__popc(alike)));
        }
    }
    add_of_warp(total, erased);
}

// Computes the results of mixed operations without a change of the table. `rows`: the rows by key, those of a key in
// their order. The thread of a key's first row runs all operations of the key. If some operations are `erase`, results
// need the sorted slots of the keys of which values are erased. A first launch, a draft without them, gives bounds.
//
// Written: the results (task.held, task.found, `counts`), and `slots`: no_slot for a pair to be inserted. `erasures`
// has for the first row of a key the number of its present values to be erased. Other rows get `skipped` and no_row.
//
// totals: pairs to be inserted, pairs to be erased, and operations `erase`. For keys with these, a draft counts all
// insertions and all present values. `heap`: a word for each row.
extern "C" __global__ void __launch_bounds__(threads)
    replay_lists(const __grid_constant__ SlabTable table, const __grid_constant__ MixedTask task, const u32* rows,
                 const u32* sorted_rows, const slab::Slot* sorted_slots, u64 sorted_count, u32* heap, u64* counts,
                 slab::Slot* slots, u32* erasures, u64* totals) {
    const u64 place = thread_row();
    const Key* const keys = static_cast<const Key*>(task.keys);
    const bool is_inside = place < task.count;
    const u32 row = is_inside ? rows[place] : 0;
    const Key key = is_inside ? keys[row] : Key{0};
    const bool is_first = is_inside && (place == 0 || keys[rows[place - 1]] != key);
    const KeyRule<Value> order = slab::order_of(static_cast<NumberKind>(task.kind));
    slab::FirstVisitor list{{}, table, order, 0, static_cast<Value>(~Value{0})};
    slab::visit_lists<L>(table, key, is_first, list);
    const slab::SortedSlots sorted{sorted_rows, sorted_slots, sorted_count};
    u64 inserted = 0, erased = 0, erasing = 0;
    if (is_inside) erasures[row] = slab::no_row;
    if (is_first) {
        slab::ListReplay replay(list, sorted, row, {heap + place, static_cast<const Value*>(task.values), order});
        u64 begin = place;  // insertions before `begin` are erased again
        for (u64 at = place; at < task.count && keys[rows[at]] == key; ++at) {
            const u32 own = rows[at];
            const auto operation = static_cast<MapOperation>(task.operations[own]);
            write_state(task, own, operation, replay);
            counts[own] = replay.count();
            slots[own] = slab::skipped;
            if (operation == MapOperation::insert) {
                replay.insert(own);
                slots[own] = slab::no_slot;
                ++inserted;
            } else if (operation == MapOperation::erase) {
                const u32 dropped = replay.erase();
                if (dropped != slab::no_row) slots[dropped] = slab::skipped;
                ++erasing;
            } else if (operation == MapOperation::erase_all) {
                for (; begin < at; ++begin) slots[rows[begin]] = slab::skipped;
                replay.erase_all();
            }
        }
        const bool is_draft = erasing != 0 && sorted_rows == nullptr;
        if (!is_draft) inserted = replay.added();
        erased = is_draft ? list.count : replay.erased();
        if (erased != 0) erasures[row] = static_cast<u32>(erased);
    }
    add_of_warp(totals, inserted);
    add_of_warp(totals + 1, erased);
    add_of_warp(totals + 2, erasing);
}

// Lists all slots of the keys whose row has an erasure, in no order. counts[row]: their number. `counter`: 0 before.
// Other results are those of ListedSlots. `kind`: the NumberKind of the values.
extern "C" __global__ void __launch_bounds__(threads)
    list_slots(const __grid_constant__ SlabTable table, const Key* keys, u64 count, const u32* erasures,
               const u64* counts, u32 kind, slab::Slot* slots, u32* rows, Value* codes, u64* counter) {
    const u64 row = thread_row();
    const bool is_active = row < count && erasures[row] != slab::no_row;
    const KeyRule<Value> order = slab::order_of(static_cast<NumberKind>(kind));
    const ListedSlots listed{slots, rows, codes};
    const u64 begin = is_active ? atomicAdd(counter, counts[row]) : 0;
    SlotVisitor visitor{{}, table, order, listed, static_cast<u32>(row), begin};
    slab::visit_lists<L>(table, key_of_row(keys, row, count), is_active, visitor);
}

// Empties the first slots of each key in their order, as many as the erasure of the key's row says.
extern "C" __global__ void __launch_bounds__(threads)
    clear_first(const __grid_constant__ SlabTable table, const u32* sorted_rows, const slab::Slot* sorted_slots,
                u64 sorted_count, const u32* erasures) {
    const u64 at = thread_row();
    if (at >= sorted_count) return;
    const u32 row = sorted_rows[at];
    const slab::Slot slot = sorted_slots[at];
    const u32 erased = erasures[row] != slab::no_row ? erasures[row] : 0;
    if (at - slab::begin_of({sorted_rows, sorted_slots, sorted_count}, row) >= erased) return;
    slab::clear_slot<L>(slab::slab_of_slot(table, slot), slab::position_of(slot));
}
