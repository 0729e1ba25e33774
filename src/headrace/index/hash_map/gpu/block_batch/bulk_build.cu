// Fills an empty table with a large batch, and moves the pairs of a table to a larger one. A block builds the lists of
// neighbouring buckets (list_builder.cuh).
//
// The bucket of a key is the highest bits of hash * buckets, so buckets ascend with hashes. Two passes of multisplit
// bring the hashes of a batch into the order of up to 16 bits. The hashes of a block's buckets are then neighbours. At
// both ends, a block also reads and skips hashes of other buckets that begin with the same bits. The lists of a table
// are in that order already, so its buckets are read in place.
//
// For example, there are 3 bits and 6 buckets, of which a block has 2. Buckets 2 and 3 have the hashes from 2.67 / 8 to
// 5.33 / 8, so the block reads those that begin with 2, 3, 4 or 5.
//
// Bytes moved for a pair of 4 and 4 bytes: 8 for the hash; 32 for two passes, and 8 for their counts; 8 for the
// build, and 13 for a slot at a load of 0.65. Move to another table: 13 for each of both tables.
#include "index/hash_map/gpu/batch_rows.cuh"
// Must be included after batch_rows.cuh, which defines `threads`.
#include "index/hash_map/gpu/block_batch/list_builder.cuh"

using namespace headrace;

using slab::Key, slab::L, slab::Value;

constexpr u32 hashed_rows = 4;  // of a thread
using slab::ListBuilder, slab::NewPair, slab::SlotReduction, slab::threads;

// Writes the hash of each key. Different keys have different hashes.
extern "C" __global__ void __launch_bounds__(threads)
    hash_keys(const __grid_constant__ SlabTable table, const Key* keys, u64 count, Key* hashes) {
    const u64 first = static_cast<u64>(blockIdx.x) * threads * hashed_rows + threadIdx.x;
#pragma unroll
    for (u32 i = 0; i < hashed_rows; ++i) {
        const u64 row = first + i * threads;
        if (row < count) hashes[row] = seeded_hash(keys[row], table.seed);
    }
}

// A batch whose hashes are in the order of their highest `bits`. `starts`: row of the first hash that begins with each
// number. Equal keys are in the order of the batch. `max_rows`: rows that a block reads at most.
struct OrderedBatch {
    const Key* hashes;
    const Value* values;
    const u64* starts;
    u32 bits;
    u32 max_rows;
};

// Gives repeated keys in shared memory the values that the reduction of all their rows has. The keys are all there.
static __device__ __forceinline__ void reduce_repeated(const ListBuilder<L>& builder, const OrderedBatch& batch,
                                                       u64 begin, u64 end, SlotReduction how) {
    const bool is_ordered = how == SlotReduction::last || how == SlotReduction::first;
    constexpr Value all = static_cast<Value>(~Value{0}), sign = static_cast<Value>(~(all >> 1));
    Value start = all;
    if (how == SlotReduction::sum || how == SlotReduction::max) start = 0;
    if (how == SlotReduction::signed_min) start = static_cast<Value>(~sign);
    if (how == SlotReduction::signed_max) start = sign;
    for (u32 i = threadIdx.x; i < builder.slot_count(); i += threads) {
        if (*builder.slot(i) != L::empty_key) *builder.value_at(builder.slot(i)) = start;
    }
    __syncthreads();
    for (u64 row = begin + threadIdx.x; row < end; row += threads) {
        const Key hash = batch.hashes[row];
        if (!builder.has(hash)) continue;
        bool unused;
        Key* const at = builder.template slot_of<false>(slab::hashed_key(hash, builder.table.seed), hash, unused);
        if (at == nullptr) continue;
        const Value rank = how == SlotReduction::last ? 0xFFFFFFFDu - static_cast<u32>(row) : static_cast<u32>(row);
        slab::reduce_value(builder.value_at(at), is_ordered ? rank : batch.values[row],
                           is_ordered ? SlotReduction::min : how);
    }
    __syncthreads();
    if (!is_ordered) return;
    for (u32 i = threadIdx.x; i < builder.slot_count(); i += threads) {
        if (*builder.slot(i) == L::empty_key) continue;
        Value& value = *builder.value_at(builder.slot(i));
        const u32 rank = static_cast<u32>(value);
        value = batch.values[how == SlotReduction::last ? 0xFFFFFFFDu - rank : rank];
    }
    __syncthreads();
}

// Builds all lists from a batch, a block for each `block_buckets` buckets. The memory blocks are unused. `totals`: keys
// added; and pairs without memory, or rows of blocks that have too many. If there are any, the table is of no use.
extern "C" __global__ void __launch_bounds__(threads)
    build_lists(const __grid_constant__ SlabTable table, const Key* hashes, const Value* values, const u64* starts,
                u32 bits, u32 max_rows, u32 reduction, u64* totals) {
    HR_DYNAMIC_SHARED(u8, slabs);
    __shared__ slab::BuilderShared shared;
    ListBuilder<L> builder(table, slabs, shared);
    const OrderedBatch batch{hashes, values, starts, bits, max_rows};
    const SlotReduction how = static_cast<SlotReduction>(reduction);
    const u64 first = static_cast<u64>(builder.first) << batch.bits;
    const u64 last = (static_cast<u64>(builder.first + builder.count) << batch.bits) + table.buckets - 1;
    const u64 begin = batch.starts[first / table.buckets], end = batch.starts[last / table.buckets];
    if (end - begin > batch.max_rows) {
        if (threadIdx.x == 0) atomicAdd(totals + 1, end - begin);
        return;
    }
    u64 row = begin + threadIdx.x;
    Key hash = row < end ? batch.hashes[row] : Key{0};
    while (row < end) {
        const u64 next = row + threads;
        const Key next_hash = next < end ? batch.hashes[next] : Key{0};
        if (builder.has(hash)) {
            const Value value = L::has_values ? batch.values[row] : Value{0};
            builder.add({slab::hashed_key(hash, table.seed), value}, hash, static_cast<u32>(row));
        }
        row = next;
        hash = next_hash;
    }
    const bool has_repeated = __syncthreads_or(builder.has_repeated) != 0;
    if constexpr (L::has_values) {
        if (has_repeated) reduce_repeated(builder, batch, begin, end, how);
    }
    const auto pair_of = [&](u32 source) {
        const Value value = L::has_values ? batch.values[source] : Value{0};
        return NewPair<L>{slab::hashed_key(batch.hashes[source], table.seed), value};
    };
    builder.finish(how, pair_of, totals);
}

// Adds the pairs of a slab of an old table, whose words a group of lanes has loaded.
static __device__ __forceinline__ void add_slab(ListBuilder<L>& builder, const SlabTable& old, u32 slab,
                                                const tile::WordPair& words) {
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
        builder.add({key, value}, hash, slab::slot_number(slab, position));
    }
}

// Builds all lists from another table with the same seed, in which each key is once. Otherwise as `build_lists`.
extern "C" __global__ void __launch_bounds__(threads)
    move_lists(const __grid_constant__ SlabTable table, const __grid_constant__ SlabTable old, u64* totals) {
    HR_DYNAMIC_SHARED(u8, slabs);
    __shared__ slab::BuilderShared shared;
    ListBuilder<L> builder(table, slabs, shared);
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
        if (is_held) builder.add({L::empty_key, value}, escaped_hash, 0);
    }
    __syncthreads();
    const auto pair_of = [&](u32 source) {
        u8* const slab = slab::slab_of_slot(old, source);
        Value value = 0;
        if constexpr (L::has_values) value = *slab::value_in<L>(slab, source & 31);
        return NewPair<L>{*slab::key_in<L>(slab, source & 31), value};
    };
    builder.finish(SlotReduction::first, pair_of, totals);
}
