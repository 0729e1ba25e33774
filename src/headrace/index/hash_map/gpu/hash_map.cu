// Searches and fills the slab hash, one operation per thread, by the functions of hash_map_ref.cuh.
//
// Bytes moved, for keys of width k and values of width v. A search: k + v + 1, and 128 for each slab of the list up to
// the key. An insertion: k + v + 4, 128 for each slab, and a sector of 32 bytes that is written back.
#include "index/hash_map/gpu/batch_rows.cuh"
#include "index/hash_map/gpu/hash_map_ref.cuh"

using namespace headrace;

using slab::count_flags, slab::key_of_row, slab::thread_row, slab::threads;
using slab::Key, slab::L, slab::Value;

// `values`: null for sets, or if they are not wanted.
extern "C" __global__ void __launch_bounds__(threads)
    find_pairs(const __grid_constant__ SlabTable table, const Key* keys, u64 count, Value* values, u8* found) {
    const u64 row = thread_row();
    const slab::Match match = slab::search<L>(table, key_of_row(keys, row, count), row < count);
    if (row >= count) return;
    const bool is_found = match.slot != slab::no_slot;
    found[row] = is_found;
    if (!L::has_values || values == nullptr) return;
    if constexpr (L::is_paired) {
        values[row] = match.value;
    } else {
        values[row] = is_found
                          ? *slab::value_in<L>(slab::slab_of_slot(table, match.slot), slab::position_of(match.slot))
                          : Value{0};
    }
}

// Writes the slot of each key, or no_slot; and whether it is present, unless `found` is null. `form`: a BatchForm.
extern "C" __global__ void __launch_bounds__(threads)
    locate_keys(const __grid_constant__ SlabTable table, const Key* keys, u64 count, u32 form, slab::Slot* slots,
                u8* found) {
    const u64 row = thread_row();
    const Key key = key_of_row(keys, row, count, form, table.seed);
    const slab::Match match = slab::search<L>(table, key, row < count);
    if (row < count) slots[row] = match.slot;
    if (row < count && found != nullptr) found[row] = match.slot != slab::no_slot;
}

// Inserts absent keys and writes the slot of each key. `form`: a BatchForm. If it is `located`, the slots are those of
// locate_keys. Then only keys without one are inserted, and the others get `skipped`.
//
// counts: skipped rows; rows without memory; and rows whose key was present or inserted by another row. Most batches
// have none of them, and so no atomic operation on the counts.
extern "C" __global__ void __launch_bounds__(threads)
    insert_pairs(const __grid_constant__ SlabTable table, const Key* keys, const Value* values, u64 count, u32 form,
                 slab::Slot* slots, u64* counts) {
    const u64 row = thread_row();
    const bool is_active = row < count && ((form & slab::located) == 0 || slots[row] == slab::no_slot);
    const Value value = is_active && L::has_values ? values[row] : Value{0};
    const Key key = key_of_row(keys, row, count, form, table.seed);
    const slab::Slot slot = slab::insert_absent<L>(table, {key, value}, is_active);
    if (row < count) slots[row] = is_active ? slot : slab::skipped;
    const bool is_failed = is_active && slot == slab::no_slot;
    count_flags(counts, row < count && !is_active);
    count_flags(counts + 1, is_failed);
    count_flags(counts + 2, is_active && !is_failed && (slot & slab::fresh) == 0);
}

// Writes all pairs in no order, a group of lanes per slab, or counts them if `keys` is null. `counter`: 0.
extern "C" __global__ void __launch_bounds__(threads)
    copy_items(const __grid_constant__ SlabTable table, u32 slab_count, Key* keys, Value* values, u64* counter) {
    const u32 group = static_cast<u32>(thread_row() / slab::group_lanes);
    const bool is_active = group < slab_count;
    u8* const slab = slab::slab_at(table, is_active ? group : 0);
    const tile::WordPair words = slab::load_constant(slab + 16 * slab::group_lane());
    const u32 empties = L::positions_of(words, L::empty_key);
    constexpr u32 valid = L::valid_positions();
    const u32 positions = is_active ? valid & ~empties : 0;
    const u32 before = tile::scan_warp<Sum<u32>>(slab::group_lane() == 0 ? static_cast<u32>(__popc(positions)) : 0u);
    u64 begin = 0;
    if (tile::lane() == tile::lanes - 1 && before != 0) begin = atomicAdd(counter, static_cast<u64>(before));
    if (keys == nullptr) return;
    begin = tile::shuffle(begin, tile::lanes - 1);
    const u32 group_before = tile::shuffle(before, slab::first_lane()) - static_cast<u32>(__popc(positions));
    const bool is_escaped = slab::is_in_escape_list(table, group, words);
    for (u32 p = 0; p < L::lane_keys; ++p) {
        const u32 position = p * slab::group_lanes + slab::group_lane();
        if ((positions >> position & 1) == 0) continue;
        const u64 to = begin + group_before + __popc(positions & low_mask(position));
        keys[to] = is_escaped ? L::empty_key : L::lane_key(words, p);
        if constexpr (L::has_values) values[to] = *slab::value_in<L>(slab, position);
    }
}

// results: slabs of all lists, and of the longest one. A thread per bucket.
extern "C" __global__ void __launch_bounds__(threads)
    measure_chains(const __grid_constant__ SlabTable table, u64* results) {
    const u64 bucket = thread_row();
    if (bucket > table.buckets) return;
    u64 length = 0;
    for (u32 at = static_cast<u32>(bucket); at != no_slab; at = *slab::next_in(slab::slab_at(table, at))) ++length;
    atomicAdd(results, length);
    atomicMax(results + 1, length);
}

// Copies memory of a table.
extern "C" __global__ void __launch_bounds__(threads)
    copy_words(const __grid_constant__ SlabTable, const u32* from, u32* to, u64 count) {
    const u64 at = thread_row();
    if (at < count) to[at] = from[at];
}
