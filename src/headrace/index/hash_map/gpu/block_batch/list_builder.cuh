// Builds the lists of neighbouring buckets by one block. Their first slabs are filled in shared memory and written to
// the table in order, each slab once.
//
// A counter of each slab numbers its pairs as they come, and the number is the slot. So a pair costs one atomic
// operation and one store, also if its key is repeated. Then groups of lanes compare the keys of each slab in a ring.
// Slabs that may have equal keys are marked, and filled again by search (`add`).
//
// A pair that its first slab has no slot for is left, and its source is kept in a list. With 65 % of the slots in use,
// they are 0.8 % of the pairs. The block claims second slabs for them, and links these before it writes the first
// slabs. A pair of a third slab, or of a slab that was filled again, is inserted into the table at the end. The keys of
// a block are in no other block's lists, so no other block is waited for.
//
// In shared memory, the 16-byte parts of slab s are in the order of part ^ s % 8. Otherwise the slots that fill at the
// same time would be in few memory banks.
#pragma once
#include "index/hash_map/gpu/block_batch/block_upsert.cuh"

namespace headrace::slab {

constexpr u32 block_buckets = HR_BUCKETS;            // at most
constexpr u32 block_slab_count = block_buckets + 1;  // the last one is for the key that marks empty slots
constexpr u32 marked = 1u << 31;                     // of a slab that may have equal keys
constexpr u32 dropped = ~0u;                         // source of a pair that is no longer left

// Returns a word that is equal for equal keys.
HR_FN u32 digest(u32 key) { return key; }
HR_FN u32 digest(u64 key) { return low_word(key) ^ high_word(key) * 0x9E3779B1u; }

// Returns whether two keys in the words of a group of lanes may be equal, to one lane at least. All lanes of the warp
// take part.
template <class L>
HR_FN bool may_repeat(const tile::WordPair& words) {
    constexpr u32 key_lanes = (L::slots + L::lane_keys - 1) / L::lane_keys;
    constexpr u32 ring = key_lanes > group_lanes / 2 ? group_lanes : group_lanes / 2;
    u32 own[L::lane_keys];
#pragma unroll
    for (u32 p = 0; p < L::lane_keys; ++p) {
        const u32 number = group_lane() * L::lane_keys + p;
        const auto key = L::lane_key(words, p);
        own[p] = number < L::slots && key != L::empty_key ? digest(key) : ~number;
    }
    bool repeats = false;
#pragma unroll
    for (u32 p = 1; p < L::lane_keys; ++p) {
        for (u32 q = 0; q < p; ++q) repeats |= own[p] == own[q];
    }
#pragma unroll
    for (u32 distance = 1; distance <= ring / 2; ++distance) {
#pragma unroll
        for (u32 p = 0; p < L::lane_keys; ++p) {
            const u32 other = tile::shuffle(own[p], first_lane() + (group_lane() + distance) % ring);
            for (u32 q = 0; q < L::lane_keys; ++q) repeats |= other == own[q];
        }
    }
    return repeats;
}

// Shared memory of a block besides the slabs. `threads` pairs are left to the second step at most.
struct BuilderShared {
    u32 counts[block_slab_count];  // pairs that were placed in each slab or left; perhaps with `marked`
    u32 left[threads];
    u32 left_homes[threads];  // first slab, and 2^16 times the pair's number in its bucket
    union {
        u32 left_digests[threads];  // of the keys
        u32 repeated[threads];      // afterwards: rows of marked slabs
    };
    u32 left_count;
    u32 slab_count;  // second slabs of lists
    u64 slab_begin;
    u32 repeated_count;  // if it exceeds `threads`, the list has some of them only
};

template <class L>
struct ListBuilder {
    using Key = typename L::Key;
    using Value = typename L::Value;
    static constexpr u32 key_step = L::is_paired ? 8 : sizeof(Key);

    const SlabTable& table;
    u8* slabs;
    BuilderShared& shared;
    u32 first, count;                                                // the buckets
    u32 added = 0;                                                   // of this thread
    bool has_repeated = false, has_marked = false, is_over = false;  // of this thread
    bool are_all_marked = false;

    // The table has 2 to the `block_bits` times the buckets of a block. `block`: the number of this one.
    __device__ ListBuilder(const SlabTable& memory, u32 block_bits, u8* shared_slabs, BuilderShared& others, u32 block)
        : table(memory), slabs(shared_slabs), shared(others), count(memory.buckets >> block_bits) {
        first = block * count;
        for (u32 i = threadIdx.x; i < block_slab_count * slab_bytes / 16; i += threads) clear(i);
        for (u32 i = threadIdx.x; i < block_slab_count; i += threads) shared.counts[i] = 0;
        if (threadIdx.x == 0) shared.left_count = shared.repeated_count = shared.slab_count = 0;
        __syncthreads();
    }

    // Returns whether the block has the bucket of a hash.
    __device__ bool has(Key hash) const { return bucket_of(table, hash) - first < count; }

    // Number in shared memory of a key's slab. `slab(i)`: the same for each of count + 1 slabs.
    __device__ u32 slab_of(Key key, Key hash) const {
        return key == L::empty_key ? block_buckets : bucket_of(table, hash) - first;
    }
    __device__ u32 slab(u32 i) const { return i < count ? i : block_buckets; }

    __device__ Key* key_at(u32 slab, u32 number) const {
        return reinterpret_cast<Key*>(byte_at(slab, number * key_step));
    }
    __device__ Value* value_at(u32 slab, u32 number) const {
        const u32 offset = L::is_paired ? number * 8 + 4 : L::values_begin + number * sizeof(Value);
        return reinterpret_cast<Value*>(byte_at(slab, offset));
    }

    __device__ bool is_marked(u32 slab) const { return (shared.counts[slab] & marked) != 0; }

    // Puts a pair of the block's buckets into the next slot. Returns its number in the bucket, L::slots or more if its
    // first slab is full.
    __device__ u32 place(const NewPair<L>& pair, Key hash) {
        const u32 slab = slab_of(pair.key, hash), number = atomicAdd(&shared.counts[slab], 1u);
        if (number >= L::slots) return number;
        const Key key = held_key(pair.key);
        if constexpr (L::is_paired) {
            *reinterpret_cast<u64*>(key_at(slab, number)) = key | static_cast<u64>(pair.value) << 32;
        } else {
            *key_at(slab, number) = key;
            if constexpr (L::has_values) *value_at(slab, number) = pair.value;
        }
        return number;
    }

    // Leaves a pair to the second step. `source`: the number that `pair_of` gets it back by.
    __device__ u32 leave(u32 source) {
        const u32 at = atomicAdd(&shared.left_count, 1u);
        if (at < threads) shared.left[at] = source;
        is_over |= at >= threads;
        return at;
    }
    // Likewise for a pair that `place` has given a number.
    __device__ void leave_placed(u32 source, Key key, Key hash, u32 number) {
        const u32 at = leave(source);
        if (at >= threads) return;
        shared.left_homes[at] = slab_of(key, hash) | (number < 0xFFFF ? number : 0xFFFF) << 16;
        shared.left_digests[at] = digest(held_key(key));
    }

    // Marks all slabs, and begins a new list of pairs that are left.
    __device__ void mark_all() {
        for (u32 i = threadIdx.x; i < block_slab_count; i += threads) shared.counts[i] = marked;
        if (threadIdx.x == 0) shared.left_count = 0;
        has_marked = are_all_marked = true;
    }

    // Marks the slabs that may have equal keys, and those that may have the key of a pair that is left. Two of these
    // may also have one key.
    __device__ void mark_repeated() {
        for (u32 begin = 0; begin <= count; begin += threads / group_lanes) {
            const u32 i = begin + threadIdx.x / group_lanes, number = slab(i);
            const uint4 part = *reinterpret_cast<const uint4*>(byte_at(number, 16 * group_lane()));
            const u32 lanes = __ballot_sync(tile::all_lanes, may_repeat<L>(bits_as<tile::WordPair>(part)));
            if (i <= count && group_lane() == 0 && (lanes >> first_lane() & 0xFF) != 0) mark(number);
        }
        if (threadIdx.x >= shared.left_count) return;
        const u32 slab = shared.left_homes[threadIdx.x] & 0xFFFF, own = shared.left_digests[threadIdx.x];
        bool repeats = false;
        for (u32 i = 0; i < L::slots; ++i) repeats |= digest(*key_at(slab, i)) == own;
        for (u32 i = 0; i < shared.left_count; ++i) repeats |= i != threadIdx.x && shared.left_digests[i] == own;
        if (repeats) mark(slab);
    }

    // Puts pairs that are left into second slabs, except those of marked slabs, and those for third slabs. The key that
    // marks empty slots is in a marked slab if it is repeated. No other thread reads the lists, so pairs and links are
    // stored without an order. `used`: slabs that blocks have claimed. All threads call it after a barrier.
    template <class PairOf>
    __device__ void append_slabs(const PairOf& pair_of, u64* used) {
        const u32 left = shared.left_count;
        if (left == 0) return;
        const u32 home = threadIdx.x < left ? shared.left_homes[threadIdx.x] : 0;
        const u32 slab = home & 0xFFFF, number = home >> 16;
        const bool is_own = threadIdx.x < left && number < 2 * L::slots && !is_marked(slab);
        const bool is_first = is_own && number == L::slots;
        const u32 place = is_first ? atomicAdd(&shared.slab_count, 1u) : 0;
        __syncthreads();
        if (threadIdx.x == 0) {
            shared.slab_begin = shared.slab_count == 0 ? 0 : atomicAdd(used, static_cast<u64>(shared.slab_count));
        }
        __syncthreads();
        u32* const next = reinterpret_cast<u32*>(byte_at(slab, next_offset));
        if (is_first) *next = Allocator::claim(table, shared.slab_begin + place);
        __syncthreads();
        if (!is_own || *next == no_slab) return;
        const NewPair<L> pair = pair_of(shared.left[threadIdx.x]);
        const u32 turn = number - L::slots;
        store_pair<L>(slab_at(table, *next), turn % L::lane_keys * group_lanes + turn / L::lane_keys,
                      {held_key(pair.key), pair.value});
        atomicAnd(reinterpret_cast<u32*>(byte_at(slab, mark_offset)), ~filter_bit(table, pair.key));
        shared.left[threadIdx.x] = dropped;
        ++added;
    }

    // Empties the marked slabs, and drops the pairs of their buckets that are left.
    __device__ void clear_marked() {
        if (threadIdx.x < shared.left_count && is_marked(shared.left_homes[threadIdx.x] & 0xFFFF)) {
            shared.left[threadIdx.x] = dropped;
        }
        for (u32 i = threadIdx.x; i < block_slab_count * slab_bytes / 16; i += threads) {
            if (is_marked(i / (slab_bytes / 16))) clear(i);
        }
    }

    // Returns the number of the slot that has the key; L::slots if its slab is full. An empty slot gets the key if
    // `fills`.
    template <bool fills>
    __device__ u32 number_of(Key key, Key hash, bool& is_fresh) const {
        const u32 slab = slab_of(key, hash);
        key = held_key(key);
        u32 number = static_cast<u32>(hash & 0xFFFF) * L::slots >> 16;
        for (u32 tries = 0; tries < L::slots; ++tries) {
            Key* const at = key_at(slab, number);
            Key held = *static_cast<const volatile Key*>(at);
            if (fills && held == L::empty_key) {
                held = atomicCAS(at, L::empty_key, key);
                is_fresh = held == L::empty_key;
                if (is_fresh) return number;
            }
            if (held == key) return number;
            number = number + 1 == L::slots ? 0 : number + 1;
        }
        return L::slots;
    }

    // Adds a pair to a marked slab.
    __device__ void add(const NewPair<L>& pair, Key hash, u32 source) {
        bool is_fresh = false;
        const u32 number = number_of<true>(pair.key, hash, is_fresh);
        if (number == L::slots) {
            leave(source);
        } else if (is_fresh) {
            if constexpr (L::has_values) *value_at(slab_of(pair.key, hash), number) = pair.value;
            ++added;
        } else {
            has_repeated = true;
        }
    }

    // Writes the slabs that are marked, or those that are not, to the table. The key that marks empty slots has a slab
    // in one block.
    template <bool of_marked>
    __device__ void write_slabs() {
        const bool has_escaped = has(seeded_hash(static_cast<Key>(L::empty_key), table.seed));
        for (u32 begin = 0; begin <= count; begin += threads / group_lanes) {
            const u32 i = begin + threadIdx.x / group_lanes, number = slab(i);
            const bool is_wanted = (i < count || (i == count && has_escaped)) && is_marked(number) == of_marked;
            if (!is_wanted) continue;
            const uint4 part = *reinterpret_cast<const uint4*>(byte_at(number, 16 * group_lane()));
            u8* const to = slab_at(table, i < count ? first + i : table.buckets);
            reinterpret_cast<uint4*>(to)[group_lane()] = part;
            const u32 pairs = shared.counts[number];
            if (!of_marked && group_lane() == 0) added += pairs < L::slots ? pairs : L::slots;
        }
    }

    // Inserts the pairs that are left into the table, and adds to `totals`: keys added, and pairs without memory. All
    // threads call it after a barrier.
    template <class PairOf>
    __device__ void insert_left(SlotReduction how, const PairOf& pair_of, u64* totals) {
        const u32 left = shared.left_count;
        BlockCounts found{0, left > threads ? left : 0};
        const bool remains = threadIdx.x < left && shared.left[threadIdx.x] != dropped;
        if (__syncthreads_or(remains && left <= threads) != 0) {
            const u32 turn = threadIdx.x % group_lanes * (tile::lanes / group_lanes) + tile::lane() / group_lanes;
            const u32 number = turn * (threads / tile::lanes) + tile::warp();  // warps and groups have as many pairs
            const u32 source = number < left ? shared.left[number] : dropped;
            const bool is_active = source != dropped;
            const NewPair<L> pair = is_active ? pair_of(source) : NewPair<L>{0, 0};
            found = upsert_by_block<L>(table, {pair, source, is_active}, how);
        }
        if (threadIdx.x == 0) added += found.added;
        total_added(totals);
        if (threadIdx.x == 0 && found.failed != 0) atomicAdd(totals + 1, static_cast<u64>(found.failed));
    }

    // Adds the keys that the block's threads have added to a total.
    __device__ void total_added(u64* total) const {
        const u32 sum = tile::reduce_warp<Sum<u32>>(added);
        if (tile::lane() == 0 && sum != 0) atomicAdd(total, static_cast<u64>(sum));
    }

private:
    __device__ static Key held_key(Key key) { return key == L::empty_key ? static_cast<Key>(~key) : key; }
    __device__ u8* byte_at(u32 slab, u32 offset) const { return slabs + slab * slab_bytes + (offset ^ slab % 8 * 16); }
    __device__ void clear(u32 part) const { reinterpret_cast<uint4*>(slabs)[part] = {~0u, ~0u, ~0u, ~0u}; }
    __device__ void mark(u32 slab) {
        atomicOr(&shared.counts[slab], marked);
        has_marked = true;
    }
};

}  // namespace headrace::slab
