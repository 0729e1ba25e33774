// Builds the lists of neighbouring buckets by one block. Their first slabs are filled in shared memory and written to
// the table in order, each slab once.
//
// A pair that its first slab has no slot for is left to a second step, and its source is kept in a list. After the
// slabs are written, the block inserts these pairs into the table. With 65 % of the slots in use, they are 0.8 % of the
// pairs. The keys of a block are in no other block's lists, so no other block is waited for.
//
// In shared memory, the first slot that is looked at depends on the key. Otherwise all threads would begin at the same
// memory bank.
#pragma once
#include "index/hash_map/gpu/block_batch/block_upsert.cuh"

namespace headrace {
namespace slab {

constexpr u32 block_buckets = HR_BUCKETS;
constexpr u32 block_slab_count = block_buckets + 1;  // the last one is for the key that marks empty slots

// Returns the hash of which `seeded_hash` gives the key.
__device__ __forceinline__ u32 hashed_key(u32 hash, u64 seed) {
    hash = (hash ^ hash >> 16) * 0x7ED1B41Du;  // the inverses of the factors of mix_bits modulo 2^32
    hash = (hash ^ hash >> 13 ^ hash >> 26) * 0xA5CB9243u;
    return hash ^ hash >> 16 ^ static_cast<u32>(seed ^ seed >> 32);
}
__device__ __forceinline__ u64 hashed_key(u64 hash, u64 seed) {
    hash = (hash ^ hash >> 33) * 0x9CB4B2F8129337DBull;
    hash = (hash ^ hash >> 33) * 0x4F74430C22A54005ull;
    return hash ^ hash >> 33 ^ seed;
}

__device__ __forceinline__ u32 bucket_of(const SlabTable& table, u32 hash) {
    return high_word(static_cast<u64>(hash) * table.buckets);
}
__device__ __forceinline__ u32 bucket_of(const SlabTable& table, u64 hash) {
    return static_cast<u32>(multiply_wide(hash, table.buckets).high);
}

// Shared memory of a block besides the slabs. `threads` pairs are left to the second step at most.
struct BuilderShared {
    u32 left[threads];
    u32 left_count;
    u32 has_escaped;  // whether the last slab has a key
};

template <class L>
struct ListBuilder {
    using Key = typename L::Key;
    using Value = typename L::Value;
    static constexpr u32 key_step = L::is_paired ? 8 : sizeof(Key);

    const SlabTable& table;
    u8* slabs;
    BuilderShared& shared;
    u32 first, count;  // the buckets
    u32 added = 0;     // of this thread
    bool has_repeated = false;

    __device__ ListBuilder(const SlabTable& memory, u8* shared_slabs, BuilderShared& others)
        : table(memory), slabs(shared_slabs), shared(others), first(blockIdx.x * block_buckets) {
        count = table.buckets - first < block_buckets ? table.buckets - first : block_buckets;
        for (u32 i = threadIdx.x; i < block_slab_count * slab_bytes / 16; i += threads) {
            reinterpret_cast<uint4*>(slabs)[i] = {~0u, ~0u, ~0u, ~0u};
        }
        if (threadIdx.x == 0) shared.left_count = shared.has_escaped = 0;
        __syncthreads();
    }

    // Returns whether the block has the bucket of a hash.
    __device__ bool has(Key hash) const { return bucket_of(table, hash) - first < count; }

    __device__ Value* value_at(Key* at) const {
        u8* const key = reinterpret_cast<u8*>(at);
        if constexpr (L::is_paired) return reinterpret_cast<Value*>(key + 4);
        const u32 offset = static_cast<u32>(key - slabs) % slab_bytes;
        return reinterpret_cast<Value*>(key - offset + L::values_begin + offset / sizeof(Key) * sizeof(Value));
    }

    // Number of slots of the block's buckets and of the last slab, and one of them.
    __device__ u32 slot_count() const { return (count + 1) * L::slots; }
    __device__ Key* slot(u32 i) const {
        const u32 slab = i < count * L::slots ? i / L::slots : block_buckets;
        return reinterpret_cast<Key*>(slabs + slab * slab_bytes + i % L::slots * key_step);
    }

    // Returns the slot that has the key; null if its slab is full. A slot that was empty gets the key if `fills`.
    template <bool fills>
    __device__ Key* slot_of(Key key, Key hash, bool& is_fresh) const {
        const bool is_escaped = key == L::empty_key;
        u8* const slab = slabs + (is_escaped ? block_buckets : bucket_of(table, hash) - first) * slab_bytes;
        if (is_escaped) key = static_cast<Key>(~key);
        u32 number = static_cast<u32>(hash & 0xFFFF) * L::slots >> 16;
        for (u32 tries = 0; tries < L::slots; ++tries) {
            Key* const at = reinterpret_cast<Key*>(slab + number * key_step);
            Key held = *static_cast<const volatile Key*>(at);
            if (fills && held == L::empty_key) {
                held = atomicCAS(at, L::empty_key, key);
                is_fresh = held == L::empty_key;
                if (is_fresh) return at;
            }
            if (held == key) return at;
            number = number + 1 == L::slots ? 0 : number + 1;
        }
        return nullptr;
    }

    // Adds a pair of the block's buckets. `source`: the number that `finish` gets it back by.
    __device__ void add(const NewPair<L>& pair, Key hash, u32 source) {
        bool is_fresh = false;
        Key* const at = slot_of<true>(pair.key, hash, is_fresh);
        if (pair.key == L::empty_key) shared.has_escaped = 1;
        if (at == nullptr) {
            const u32 number = atomicAdd(&shared.left_count, 1u);
            if (number < threads) shared.left[number] = source;
        } else if (is_fresh) {
            if constexpr (L::has_values) *value_at(at) = pair.value;
            ++added;
        } else {
            has_repeated = true;
        }
    }

    // Writes the slabs to the table, and inserts the pairs that are left. `pair_of(source)` returns a pair. `totals`:
    // keys added, and pairs without memory. All threads call it after a barrier.
    template <class PairOf>
    __device__ void finish(SlotReduction how, const PairOf& pair_of, u64* totals) {
        const uint4* const from = reinterpret_cast<const uint4*>(slabs);
        uint4* const to = reinterpret_cast<uint4*>(slab_at(table, first));
        for (u32 i = threadIdx.x; i < count * (slab_bytes / 16); i += threads) to[i] = from[i];
        if (shared.has_escaped != 0 && threadIdx.x < slab_bytes / 16) {
            reinterpret_cast<uint4*>(slab_at(table, table.buckets))[threadIdx.x] =
                from[block_buckets * (slab_bytes / 16) + threadIdx.x];
        }
        const u32 left = shared.left_count;
        __syncthreads();
        BlockCounts found{0, left};
        if (left != 0 && left <= threads) {
            const u32 turn = threadIdx.x % group_lanes * (tile::lanes / group_lanes) + tile::lane() / group_lanes;
            const u32 number = turn * (threads / tile::lanes) + tile::warp();  // warps and groups have as many pairs
            const bool is_active = number < left;
            const u32 source = is_active ? shared.left[number] : 0;
            const NewPair<L> pair = is_active ? pair_of(source) : NewPair<L>{0, 0};
            found = upsert_by_block<L>(table, {pair, source, is_active}, how);
        }
        const u32 sum = tile::reduce_warp<Sum<u32>>(added) + (threadIdx.x == 0 ? found.added : 0);
        if (tile::lane() == 0 && sum != 0) atomicAdd(totals, static_cast<u64>(sum));
        if (threadIdx.x == 0 && found.failed != 0) atomicAdd(totals + 1, static_cast<u64>(found.failed));
    }
};

}  // namespace slab
}  // namespace headrace
