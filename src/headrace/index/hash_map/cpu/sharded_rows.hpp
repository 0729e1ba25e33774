// Distributes the operations of a batch over the shards of a table. A shard's operations keep their order and run on
// one thread. So for any number of threads the result is that of the operations in order.
#pragma once
#include <array>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "index/hash_map/rules/seeded_hash.hpp"

namespace headrace {

constexpr u32 shard_count = 64;
// Searches that run side by side, so that their cache misses overlap.
constexpr u64 searches_in_flight = 16;
// Batches of fewer operations run on one thread.
constexpr u64 parallel_from = 8192;
// Bytes of tables that a core's cache has.
constexpr u64 cached_bytes = 1 << 20;

// The highest bits select the shard; a table's slots are selected by the lowest.
template <class Key>
u32 shard_of(Key hash) {
    return static_cast<u32>(hash >> (8 * sizeof(Key) - 6));
}

struct ShardedRows {
    std::vector<u32> rows;
    std::array<u64, shard_count + 1> begins;

    u64 count(u32 shard) const { return begins[shard + 1] - begins[shard]; }
    const u32* first(u32 shard) const { return rows.data() + begins[shard]; }
};

inline unsigned threads_for(u64 count, unsigned threads) { return count < parallel_from ? 1 : threads; }

// `count`: fewer than 2^32. Bytes moved per key of width w: 2 w + 4.
template <class Key>
ShardedRows shard_rows(const Key* keys, u64 count, u64 seed, unsigned threads) {
    ShardedRows result;
    result.rows.resize(count);
    const Pieces pieces(count, sizeof(Key));
    std::vector<std::array<u64, shard_count>> places(pieces.number());
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        std::array<u64, shard_count> counts{};
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 row = begin; row < end; ++row) ++counts[shard_of(seeded_hash(keys[row], seed))];
        places[piece] = counts;
    });
    u64 before = 0;
    for (u32 shard = 0; shard < shard_count; ++shard) {
        result.begins[shard] = before;
        for (auto& place : places) before += std::exchange(place[shard], before);
    }
    result.begins[shard_count] = before;
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        std::array<u64, shard_count> next = places[piece];
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 row = begin; row < end; ++row) {
            result.rows[next[shard_of(seeded_hash(keys[row], seed))]++] = static_cast<u32>(row);
        }
    });
    return result;
}

template <class Work>
void for_each_shard(unsigned threads, const Work& work) {
    for_each_piece(shard_count, threads, [&](u64 shard) { work(static_cast<u32>(shard)); });
}

}  // namespace headrace
