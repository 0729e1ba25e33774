// Fills an empty table with a large batch, and moves the pairs of a table to a larger one. A block builds the lists of
// neighbouring buckets (list_builder.cuh).
//
// The bucket of a key is the highest bits of hash * buckets, so buckets ascend with hashes. A table has 2^b q buckets,
// so the hashes of q neighbouring buckets are those that begin with the same b bits. Two passes of multisplit bring the
// hashes of a batch into the order of up to 16 bits. The rows of a block are then neighbours. If b exceeds 16, blocks
// read the same rows and skip those of other blocks. The lists of a table are in that order already, so its buckets are
// read in place.
//
// For example, 6 buckets are 2^1 * 3. Block 0 has buckets 0 to 2 and all hashes that begin with 0, block 1 the rest.
//
// Bytes moved for a pair of 4 and 4 bytes: 32 for two passes, and 8 for their counts; 8 for the build, and 13 for a
// slot at a load of 0.65. Move to another table: 13 for each of both tables.
#include "index/hash_map/gpu/batch_rows.cuh"
// Must be included after batch_rows.cuh, which defines `threads`.
#include "index/hash_map/gpu/block_batch/list_builder.cuh"

using namespace headrace;

using slab::Key, slab::L, slab::Value;

using slab::ListBuilder, slab::NewPair, slab::SlotReduction, slab::threads;

// A batch whose hashes are in the order of their highest `bits`. `starts`: row of the first hash that begins with each
// number. Equal keys are in the order of the batch.
struct OrderedBatch {
    const Key* hashes;
    const Value* values;
    const u64* starts;
    u32 bits;
    u64 seed;

    __device__ NewPair<L> pair_at(u64 row, Key hash) const {
        return {hashed_key(hash, seed), L::has_values ? values[row] : Value{0}};
    }
};

struct BlockRows {
    u64 begin, end;
};

// Calls `work(row, pair, hash)` for the rows of marked slabs. They are in a list, unless there are too many.
template <class Work>
HR_FN void visit_marked(const ListBuilder<L>& builder, const OrderedBatch& batch, const BlockRows& rows,
                        const Work& work) {
    const u32 listed = builder.shared.repeated_count;
    if (!builder.are_all_marked && listed <= threads) {
        if (threadIdx.x >= listed) return;
        const u32 row = builder.shared.repeated[threadIdx.x];
        const Key hash = batch.hashes[row];
        work(row, batch.pair_at(row, hash), hash);
        return;
    }
    for (u64 row = rows.begin + threadIdx.x; row < rows.end; row += threads) {
        const Key hash = batch.hashes[row], key = hashed_key(hash, batch.seed);
        if (!builder.has(hash) || !builder.is_marked(builder.slab_of(key, hash))) continue;
        work(static_cast<u32>(row), batch.pair_at(row, hash), hash);
    }
}

// Lists the rows of marked slabs.
HR_FN void list_marked(ListBuilder<L>& builder, const OrderedBatch& batch, const BlockRows& rows) {
    for (u64 row = rows.begin + threadIdx.x; row < rows.end; row += threads) {
        const Key hash = batch.hashes[row], key = hashed_key(hash, batch.seed);
        if (!builder.has(hash) || !builder.is_marked(builder.slab_of(key, hash))) continue;
        const u32 number = atomicAdd(&builder.shared.repeated_count, 1u);
        if (number < threads) builder.shared.repeated[number] = static_cast<u32>(row);
    }
}

// Gives repeated keys in marked slabs the values that the reduction of all their rows has. The keys are all there.
HR_FN void reduce_repeated(const ListBuilder<L>& builder, const OrderedBatch& batch, const BlockRows& rows,
                           SlotReduction how) {
    const bool is_ordered = how == SlotReduction::last || how == SlotReduction::first;
    constexpr Value all = static_cast<Value>(~Value{0}), sign = static_cast<Value>(~(all >> 1));
    Value start = all;
    if (how == SlotReduction::sum || how == SlotReduction::max) start = 0;
    if (how == SlotReduction::signed_min) start = static_cast<Value>(~sign);
    if (how == SlotReduction::signed_max) start = sign;
    const u32 slots = (builder.count + 1) * L::slots;
    for (u32 i = threadIdx.x; i < slots; i += threads) {
        const u32 slab = builder.slab(i / L::slots), number = i % L::slots;
        if (!builder.is_marked(slab) || *builder.key_at(slab, number) == L::empty_key) continue;
        *builder.value_at(slab, number) = start;
    }
    __syncthreads();
    visit_marked(builder, batch, rows, [&](u32 row, const NewPair<L>& pair, Key hash) {
        bool unused;
        const u32 number = builder.template number_of<false>(pair.key, hash, unused);
        if (number == L::slots) return;
        const Value rank = how == SlotReduction::last ? 0xFFFFFFFDu - row : row;
        slab::reduce_value(builder.value_at(builder.slab_of(pair.key, hash), number), is_ordered ? rank : pair.value,
                           is_ordered ? SlotReduction::min : how);
    });
    __syncthreads();
    if (!is_ordered) return;
    for (u32 i = threadIdx.x; i < slots; i += threads) {
        const u32 slab = builder.slab(i / L::slots), number = i % L::slots;
        if (!builder.is_marked(slab) || *builder.key_at(slab, number) == L::empty_key) continue;
        Value& value = *builder.value_at(slab, number);
        const u32 rank = static_cast<u32>(value);
        value = batch.values[how == SlotReduction::last ? 0xFFFFFFFDu - rank : rank];
    }
    __syncthreads();
}

// Returns the rows that a block reads.
HR_FN BlockRows rows_of_block(const OrderedBatch& batch, u32 block_bits) {
    const u64 begin = static_cast<u64>(blockIdx.x) << batch.bits;
    const u64 last = (static_cast<u64>(blockIdx.x + 1) << batch.bits) - 1;
    return {batch.starts[begin >> block_bits], batch.starts[(last >> block_bits) + 1]};
}

// Places all rows in slabs, and calls `leave` for rows whose slab is full. Several rows are loaded before one is
// placed.
template <class Leave>
HR_FN void place_rows(ListBuilder<L>& builder, const OrderedBatch& batch, const BlockRows& rows, const Leave& leave) {
    constexpr u32 loads = 4;
    for (u64 first = rows.begin + threadIdx.x; first < rows.end; first += loads * threads) {
        Key hashes[loads];
        NewPair<L> pairs[loads];
#pragma unroll
        for (u32 i = 0; i < loads; ++i) {
            const u64 row = first + i * threads;
            if (row >= rows.end) continue;
            hashes[i] = batch.hashes[row];
            pairs[i] = batch.pair_at(row, hashes[i]);
        }
#pragma unroll
        for (u32 i = 0; i < loads; ++i) {
            const u64 row = first + i * threads;
            if (row >= rows.end || !builder.has(hashes[i])) continue;
            const u32 number = builder.place(pairs[i], hashes[i]);
            if (number >= L::slots) leave(static_cast<u32>(row), pairs[i].key, hashes[i], number);
        }
    }
}

// Fills the marked slabs again, where equal keys have one slot.
HR_FN void fill_marked(ListBuilder<L>& builder, const OrderedBatch& batch, const BlockRows& rows, SlotReduction how) {
    builder.clear_marked();
    if (!builder.are_all_marked) list_marked(builder, batch, rows);
    __syncthreads();
    visit_marked(builder, batch, rows,
                 [&](u32 row, const NewPair<L>& pair, Key hash) { builder.add(pair, hash, row); });
    const bool has_repeated = __syncthreads_or(builder.has_repeated) != 0;
    if constexpr (L::has_values) {
        if (has_repeated) reduce_repeated(builder, batch, rows, how);
    }
    builder.template write_slabs<true>();
}

// Builds all lists from a batch, a block for each 2^-`block_bits` of the buckets. The memory blocks are unused.
// `totals`: keys added; and pairs without memory, or rows of blocks with more than `max_rows`. If there are any, the
// table is of no use.
extern "C" __global__ void __launch_bounds__(threads)
    build_lists(const __grid_constant__ SlabTable table, u32 block_bits, const Key* hashes, const Value* values,
                const u64* starts, u32 bits, u32 max_rows, u32 reduction, u64* totals) {
    HR_DYNAMIC_SHARED(u8, slabs);
    __shared__ slab::BuilderShared shared;
    ListBuilder<L> builder(table, block_bits, slabs, shared, blockIdx.x);
    const OrderedBatch batch{hashes, values, starts, bits, table.seed};
    const SlotReduction how = static_cast<SlotReduction>(reduction);
    const BlockRows rows = rows_of_block(batch, block_bits);
    const u64 count = rows.end - rows.begin;
    if (count > max_rows) {
        if (threadIdx.x == 0) atomicAdd(totals + 1, count);
        return;
    }
    const auto pair_of = [&](u32 source) { return batch.pair_at(source, batch.hashes[source]); };
    const bool is_full = bits >= block_bits && count > builder.count * L::slots;
    if (!is_full) {
        place_rows(builder, batch, rows,
                   [&](u32 row, Key key, Key hash, u32 number) { builder.leave_placed(row, key, hash, number); });
    }
    if (__syncthreads_or(is_full || builder.is_over) != 0) {
        builder.mark_all();
    } else {
        builder.mark_repeated();
    }
    const bool has_marked = __syncthreads_or(builder.has_marked) != 0;
    builder.append_slabs(pair_of, totals + 2);
    __syncthreads();
    builder.template write_slabs<false>();
    if (has_marked) fill_marked(builder, batch, rows, how);
    __syncthreads();
    builder.insert_left(how, pair_of, totals);
}

// Builds all lists of a multimap. Pairs whose first slab is full are written to `left_keys` and `left_values`.
// `left_rows`: memory for the number of each row. No two blocks read the same rows. `totals`: pairs in slabs, pairs
// that are left, and rows of blocks with more than `max_rows`. If there are any of these, the table is of no use.
extern "C" __global__ void __launch_bounds__(threads)
    build_multi_lists(const __grid_constant__ SlabTable table, u32 block_bits, const Key* hashes, const Value* values,
                      const u64* starts, u32 bits, u32 max_rows, u32* left_rows, Key* left_keys, Value* left_values,
                      u64* totals) {
    HR_DYNAMIC_SHARED(u8, slabs);
    __shared__ slab::BuilderShared shared;
    __shared__ u64 left_begin;
    ListBuilder<L> builder(table, block_bits, slabs, shared, blockIdx.x);
    const OrderedBatch batch{hashes, values, starts, bits, table.seed};
    const BlockRows rows = rows_of_block(batch, block_bits);
    if (rows.end - rows.begin > max_rows) {
        if (threadIdx.x == 0) atomicAdd(totals + 2, rows.end - rows.begin);
        return;
    }
    u32* const block_left = left_rows + rows.begin;
    place_rows(builder, batch, rows,
               [&](u32 row, Key, Key, u32) { block_left[atomicAdd(&shared.left_count, 1u)] = row; });
    __syncthreads();
    builder.template write_slabs<false>();
    builder.total_added(totals);
    const u32 left = shared.left_count;
    if (threadIdx.x == 0) left_begin = left == 0 ? 0 : atomicAdd(totals + 1, static_cast<u64>(left));
    __syncthreads();
    for (u32 i = threadIdx.x; i < left; i += threads) {
        const NewPair<L> pair = batch.pair_at(block_left[i], hashes[block_left[i]]);
        left_keys[left_begin + i] = pair.key;
        if constexpr (L::has_values) left_values[left_begin + i] = pair.value;
    }
}

// Adds the pairs of a slab of an old table, whose words a group of lanes has loaded.
HR_FN void add_slab(ListBuilder<L>& builder, const SlabTable& old, u32 slab, const tile::WordPair& words) {
    for (u32 p = 0; p < L::lane_keys; ++p) {
        const u32 number = slab::group_lane() * L::lane_keys + p, position = p * slab::group_lanes + slab::group_lane();
        const Key key = L::lane_key(words, p);
        if (number >= L::slots || key == L::empty_key) continue;
        const Key hash = seeded_hash(key, builder.table.seed);
        if (!builder.has(hash)) continue;
        Value value = 0;
        if constexpr (L::is_paired) {
            value = L::lane_value(words, p);
        } else if constexpr (L::has_values) {
            value = *slab::value_in<L>(slab::slab_at(old, slab), position);
        }
        const u32 place = builder.place({key, value}, hash);
        if (place >= L::slots) builder.leave_placed(slab::slot_number(slab, position), key, hash, place);
    }
}

// Builds lists from another table with the same seed, in which each key is once. Otherwise as `build_lists`. The launch
// has blocks from `first_block` on, so that a table may be moved in steps.
extern "C" __global__ void __launch_bounds__(threads)
    move_lists(const __grid_constant__ SlabTable table, u32 block_bits, u32 first_block,
               const __grid_constant__ SlabTable old, u64* totals) {
    HR_DYNAMIC_SHARED(u8, slabs);
    __shared__ slab::BuilderShared shared;
    ListBuilder<L> builder(table, block_bits, slabs, shared, first_block + blockIdx.x);
    const u64 last = static_cast<u64>(builder.first + builder.count) * old.buckets + table.buckets - 1;
    const u32 begin = static_cast<u32>(static_cast<u64>(builder.first) * old.buckets / table.buckets);
    const u32 end = static_cast<u32>(last / table.buckets);
    for (u32 from = begin; from < end; from += threads / slab::group_lanes) {
        const u32 bucket = from + threadIdx.x / slab::group_lanes;
        u32 slab = bucket < end ? bucket : no_slab;
        while (__any_sync(tile::all_lanes, slab != no_slab)) {
            const u32 at = slab != no_slab ? slab : 0;
            const tile::WordPair words = slab::load_constant(slab::lane_bytes(old, at));
            if (slab != no_slab) add_slab(builder, old, slab, words);
            const u32 next = slab::next_of(words);
            slab = slab != no_slab ? next : no_slab;
        }
    }
    const Key escaped_hash = seeded_hash(static_cast<Key>(L::empty_key), table.seed);
    if (threadIdx.x < L::slots && builder.has(escaped_hash)) {  // the key is once at most
        const u32 position = threadIdx.x % L::lane_keys * slab::group_lanes + threadIdx.x / L::lane_keys;
        u8* const slab = slab::slab_at(old, old.buckets);
        Value value = 0;
        if constexpr (L::has_values) value = *slab::value_in<L>(slab, position);
        const bool is_held = *slab::key_in<L>(slab, position) != L::empty_key;
        if (is_held) builder.place({L::empty_key, value}, escaped_hash);
    }
    __syncthreads();
    const auto pair_of = [&](u32 source) {
        u8* const slab = slab::slab_of_slot(old, source);
        Value value = 0;
        if constexpr (L::has_values) value = *slab::value_in<L>(slab, source & 31);
        return NewPair<L>{*slab::key_in<L>(slab, source & 31), value};
    };
    if (__syncthreads_or(builder.is_over) == 0) builder.append_slabs(pair_of, totals + 2);
    __syncthreads();
    builder.template write_slabs<false>();
    __syncthreads();
    builder.insert_left(SlotReduction::first, pair_of, totals);
}
