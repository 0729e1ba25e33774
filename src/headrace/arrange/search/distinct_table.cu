// Collects the distinct keys of an array in a hash table that fits the L2 cache, if there are few, and lists them. Then
// only these are sorted. Most keys are found in the table by one load. It may come from the L1 cache, since a slot
// changes only once, from empty to a key. An insertion reads an empty one again. (Linear probing: Knuth 1998, section
// 6.4.)
//
// Keys are the same if their bits are. For example, the keys 7 3 7 7 leave 7 and 3 in the table, and the count 2.
//
// Bytes moved per key of width w: w from memory, and a sector of 32 bytes from a cache.
#include "core/hash.hpp"
#include "gpu/block/block.cuh"
#include "gpu/block/tile_rows.cuh"

using namespace headrace;

using Key = HR_KEY;
constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 vector_keys = tile::per_vector<Key>;
constexpr u32 thread_keys = rows * vector_keys;
constexpr u32 tile_keys = threads * thread_keys;
constexpr u32 max_probes = 128;
constexpr Key empty = ~Key{0};

struct TableState {
    u32 count;      // slots that have a key; with the highest bit if a key found no place
    u32 has_empty;  // whether the key with the bits of an empty slot is present
    u32 listed;     // keys that were listed
    u32 unused;
};

// Returns a hash of 32 bits. It costs half of mix_bits for 64 bits.
HR_FN u32 hash_of(Key key) {
    u32 folded = static_cast<u32>(key);
    if constexpr (sizeof(Key) == 8) folded ^= static_cast<u32>(u64{key} >> 32) * 0x9E3779B1u;
    return mix_bits(folded);
}

// Inserts a key, given the key that its slot had. Returns the number of keys that are new: 1 or 0.
HR_FN u32 insert(Key key, Key found, u32 slot, Key* table, u32 mask, TableState* state) {
    for (u32 probe = 0; probe < max_probes; ++probe) {
        if (found == key) return 0;
        if (found == empty) {
            found = atomicCAS(table + slot, empty, key);
            if (found == empty) return 1;
            if (found == key) return 0;
        }
        slot = (slot + 1) & mask;
        found = tile::load_cached(table + slot);
    }
    atomicOr(&state->count, 1u << 31);
    return 0;
}

// Inserts the keys of every `step`-th tile. If there are more distinct ones than `limit`, the count is larger, and the
// table undefined. `mask`: number of slots, a power of 2, minus 1. Launch: any number of blocks.
extern "C" __global__ void __launch_bounds__(threads)
    insert_keys(const Key* keys, u64 count, u64 step, Key* table, u32 mask, TableState* state, u32 limit) {
    const u64 tiles = (count + tile_keys - 1) / tile_keys;
    for (u64 number = blockIdx.x * step; number < tiles; number += gridDim.x * step) {
        if (tile::shuffle(tile::load_relaxed(&state->count), 0) > limit) return;
        const Key* const from = keys + number * tile_keys;
        const i64 left = static_cast<i64>(count - number * tile_keys);
        tile::Rows<Key, rows> loaded;
        tile::load_rows(loaded, from, left, left >= tile_keys && tile::aligned(from), from[0]);
        Key found[thread_keys];
        u32 slots[thread_keys];
#pragma unroll
        for (u32 i = 0; i < thread_keys; ++i) {
            slots[i] = hash_of(loaded.row[i / vector_keys].item[i % vector_keys]) & mask;
            found[i] = tile::load_cached(table + slots[i]);
        }
        u32 added = 0;
#pragma unroll
        for (u32 i = 0; i < thread_keys; ++i) {
            const Key key = loaded.row[i / vector_keys].item[i % vector_keys];
            if (key != empty) {
                added += insert(key, found[i], slots[i], table, mask, state);
            } else if (tile::load_relaxed(&state->has_empty) == 0) {
                tile::store_relaxed(&state->has_empty, 1u);
            }
        }
        added = __reduce_add_sync(tile::all_lanes, added);
        if (added != 0 && tile::lane() == 0) atomicAdd(&state->count, added);
    }
}

// Writes the keys of the table in any order. `slots`: a multiple of the keys of a tile. Launch: a block for each tile.
extern "C" __global__ void __launch_bounds__(threads) list_keys(const Key* table, TableState* state, Key* distinct) {
    __shared__ u32 totals[threads / tile::lanes];
    __shared__ u32 begin;
    tile::Rows<Key, rows> held;
    tile::load_rows(held, table + u64{blockIdx.x} * tile_keys, tile_keys, true, empty);
    u32 own = 0;
#pragma unroll
    for (u32 i = 0; i < thread_keys; ++i) own += held.row[i / vector_keys].item[i % vector_keys] != empty ? 1 : 0;
    const u32 upto = tile::scan_warp<Sum<u32>>(own);
    const tile::WarpPrefix<u32> warps =
        tile::scan_warps<Sum<u32>, threads>(tile::shuffle(upto, tile::lanes - 1), totals);
    const bool is_last = blockIdx.x == gridDim.x - 1;
    const u32 extra = is_last ? state->has_empty : 0;
    if (threadIdx.x == 0) {
        begin = atomicAdd(&state->listed, warps.total + extra);
        if (extra != 0) distinct[begin + warps.total] = empty;
    }
    __syncthreads();
    u32 at = begin + warps.before + upto - own;
#pragma unroll
    for (u32 i = 0; i < thread_keys; ++i) {
        const Key key = held.row[i / vector_keys].item[i % vector_keys];
        if (key != empty) distinct[at++] = key;
    }
}
