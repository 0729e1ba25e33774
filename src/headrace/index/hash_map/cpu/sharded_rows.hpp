// Distributes the operations of a batch over threads. A key's table is one of 64, by the highest bits of its hash. On
// one thread, all operations run in their order. On several, tables form parts. A part's operations keep their order
// and run on one thread. So for any number of threads the result is that of the operations in order.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "index/hash_map/rules/seeded_hash.hpp"

namespace headrace {

constexpr u32 log_shards = 6;
constexpr u32 shard_count = 1 << log_shards;
// Searches that run side by side, so that their cache misses overlap.
constexpr u64 searches_in_flight = 16;
// Batches of fewer operations run on one thread.
constexpr u64 parallel_from = 8192;
// Larger tables exceed the cache of a core by so much that prefetches pay.
constexpr u64 cached_bytes = 3 << 20;

// The highest bits select the shard; a table's groups are selected by the lowest.
template <class Key>
u32 shard_of(Key hash) {
    return static_cast<u32>(hash >> (8 * sizeof(Key) - log_shards));
}

// Some rows of a batch, ascending: rows[0 .. count), or those from `first` on if `rows` is null.
struct RowList {
    const u32* rows;
    u64 first;
    u64 count;

    u64 operator[](u64 at) const { return rows == nullptr ? first + at : rows[at]; }
    RowList part(u64 begin, u64 end) const {
        return {rows == nullptr ? nullptr : rows + begin, first + begin, end - begin};
    }
};

// A batch in parts of equally many tables. No table is in two parts.
struct BatchParts {
    std::unique_ptr<u32[]> rows;  // by part; null for one part of all tables
    std::vector<u64> begins;

    u32 number() const { return static_cast<u32>(begins.size() - 1); }
    RowList operator[](u64 part) const {
        const u64 begin = begins[part], count = begins[part + 1] - begin;
        return {rows == nullptr ? nullptr : rows.get() + begin, begin, count};
    }
    u32 tables_of_part() const { return shard_count / number(); }
};

// Keys of rows, and the seed of their hash.
template <class Key>
struct KeyRows {
    const Key* keys;
    RowList rows;
    u64 seed;

    bool has_all_tables() const { return rows.rows == nullptr; }
    // A table of these rows, of which there are some.
    u32 table() const { return shard_of(seeded_hash(keys[rows[0]], seed)); }
};

inline unsigned threads_for(u64 count, unsigned threads) { return count < parallel_from ? 1 : threads; }

// Binary logarithm of the number of parts: 4 for each thread, as far as there are tables. The rows of a part lie apart,
// so with more parts each row is read from a cache line of its own. With fewer, threads have unequal shares.
inline u32 log_parts_for(unsigned threads) { return std::bit_width(std::min(4 * threads, shard_count) - 1); }

// `count`: fewer than 2^32. Bytes moved per key of width w: none on one thread, else 2 w + 4.
template <class Key>
BatchParts batch_parts(const Key* keys, u64 count, u64 seed, unsigned threads) {
    if (threads == 1) return {nullptr, {0, count}};
    const u32 log_parts = log_parts_for(threads), number = 1u << log_parts;
    const auto part_of = [=](Key key) { return shard_of(seeded_hash(key, seed)) >> (log_shards - log_parts); };
    BatchParts result{std::make_unique_for_overwrite<u32[]>(count), std::vector<u64>(number + 1)};
    const Pieces pieces(count, sizeof(Key));
    std::vector<std::array<u64, shard_count>> places(pieces.number());
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        std::array<u64, shard_count> counts{};
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 row = begin; row < end; ++row) ++counts[part_of(keys[row])];
        places[piece] = counts;
    });
    u64 before = 0;
    for (u32 part = 0; part < number; ++part) {
        result.begins[part] = before;
        for (auto& place : places) before += std::exchange(place[part], before);
    }
    result.begins[number] = before;
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        std::array<u64, shard_count> next = places[piece];
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 row = begin; row < end; ++row) result.rows[next[part_of(keys[row])]++] = static_cast<u32>(row);
    });
    return result;
}

// Memory that is fetched before a search needs it: none in tables that a core's cache has.
enum class Prefetch { nothing, search, insertion };

inline Prefetch prefetch_for(u64 table_bytes, Prefetch wanted) {
    return table_bytes > cached_bytes ? wanted : Prefetch::nothing;
}

// Calls visit(hash, row) for each row in order. `table_of(hash)`: the table of a hash. The
// memory of the next searches is fetched first: tags, then slots.
//
// Inlined, so that `visit` keeps its values in registers while it stores flags, which may alias them.
template <class Key, class TableOf, class Visit>
[[gnu::always_inline]] inline void visit_rows(const KeyRows<Key> given, Prefetch prefetch, const TableOf& table_of,
                                              const Visit& visit) {
    const RowList rows = given.rows;
    Key hashes[searches_in_flight];
    for (u64 at = 0; at < rows.count; at += searches_in_flight) {
        const u64 few = std::min(searches_in_flight, rows.count - at);
        for (u64 i = 0; i < few; ++i) hashes[i] = seeded_hash(given.keys[rows[at + i]], given.seed);
        if (prefetch != Prefetch::nothing) {
            for (u64 i = 0; i < few; ++i) table_of(hashes[i]).prefetch_tags(hashes[i]);
            const bool is_insertion = prefetch == Prefetch::insertion;
            for (u64 i = 0; i < few; ++i) table_of(hashes[i]).prefetch_slot(hashes[i], is_insertion);
        }
        for (u64 i = 0; i < few; ++i) visit(hashes[i], rows[at + i]);
    }
}

}  // namespace headrace
