// Distributes the operations of a batch over threads. A key's table is one of 64, by the highest bits of its hash. On
// one thread, all operations run in their order. On several, each table is a part, whose operations keep their order
// and run on one thread. So for any number of threads the result is that of the operations in order.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "core/cpu/cache_blocks.hpp"
#include "core/cpu/memory.hpp"
#include "index/hash_map/cpu/placing_hash.hpp"

namespace headrace {

constexpr u32 log_shards = 6;
constexpr u32 shard_count = 1 << log_shards;
// Searches that run side by side, so that their cache misses overlap.
constexpr u64 searches_in_flight = 16;
// Batches of fewer operations run on one thread.
constexpr u64 parallel_from = 8192;
// Larger tables exceed the cache of a core by so much that prefetches pay.
constexpr u64 cached_bytes = 3 << 20;
// The same for the tags of a table, which take a ninth of it or less.
constexpr u64 cached_with_tags = 12 << 20;

// The highest bits select the shard; a table's groups are selected by the lowest.
inline u32 shard_of(u64 hash) { return static_cast<u32>(hash >> (64 - log_shards)); }

// All tables of a map: one of a small map, or one of each shard.
template <class Table>
class ShardTables {
public:
    explicit ShardTables(std::span<Table> tables) : tables_(tables.data()), last_(tables.size() - 1) {}
    Table& operator()(u64 hash) const { return tables_[shard_of(hash) & last_]; }

private:
    Table* tables_;
    u64 last_;
};

// The tables of consecutive shards: one for all, or one of each.
template <class Table>
struct PartTables {
    std::span<Table> tables;
    u64 first_shard = 0, shards = shard_count;

    u64 bytes() const {
        u64 sum = 0;
        for (const Table& table : tables) sum += table.bytes();
        return sum;
    }
    // Writes the address of each shard's table, and its size, for searches by a kernel.
    void write_search_words(u64* words) const {
        for (u64 i = 0; i < shards; ++i) words[first_shard + i] = tables[i & (tables.size() - 1)].search_word();
    }
};

inline unsigned threads_for(u64 count, unsigned threads) { return count < parallel_from ? 1 : threads; }

// Keys at consecutive positions, and the seed of their hash.
template <class Key>
struct KeyRows {
    const Key* keys;
    u64 first;  // position
    u64 count;
    u64 seed;

    KeyRows part(u64 begin, u64 end) const { return {keys, first + begin, end - begin, seed}; }
};

// An array of a batch by row and by position (see BatchParts); null for none. A batch of one part has one array for
// both.
template <class Item>
struct PlacedItems {
    Item* rows;
    Item* items;

    void take(u64 row, u64 position) const {
        if (rows != nullptr) items[position] = rows[row];
    }
    void give(u64 row, u64 position) const {
        if (rows != nullptr) rows[row] = items[position];
    }
};

// The operations of a batch in parts of equally many tables. No table is in two parts. The operations of a part have
// consecutive positions, in their order. One thread has one part, whose positions are rows.
//
// On several threads, items are copied to their positions, and results back to their rows. So threads share no cache
// lines, and the table of a part stays in the cache of a core. For example, with keys a1, a2 and b1 of parts a and b:
//
//     rows b1 a2 a1   positions a2 a1 | b1
template <class Key>
class BatchParts {
public:
    // `count`: fewer than 2^32. One thread has several parts if there are `divided_from` operations. Bytes moved per
    // key of width w: w for several parts.
    BatchParts(const void* keys, u64 count, u64 seed, unsigned threads, u64 divided_from = ~u64{0})
        : count_(count),
          seed_(seed),
          threads_(threads_for(count, threads)),
          number_(threads_ > 1 || count >= divided_from ? shard_count : 1),
          pieces_(count, bytes_of_row) {
        keys_ = placed<Key>(keys);
        begins_.assign(number() + 1, count);
        begins_[0] = 0;
        if (number() > 1) place_keys();
    }

    unsigned threads() const { return threads_; }
    u32 number() const { return number_; }
    u32 tables_of_part() const { return shard_count / number(); }
    u64 begin(u64 part) const { return begins_[part]; }
    KeyRows<Key> operator[](u64 part) const {
        return {keys_.items, begins_[part], begins_[part + 1] - begins_[part], seed_};
    }
    Key key_at(u64 position) const { return keys_.items[position]; }

    // Returns an array of the caller, null for none, with memory for its items by position.
    template <class Item>
    PlacedItems<Item> placed(const void* by_row) {
        Item* const rows = static_cast<Item*>(const_cast<void*>(by_row));
        if (number() == 1 || rows == nullptr) return {rows, rows};
        const usize bytes = count_ * sizeof(Item);
        copies_.emplace_back(bytes, nullptr).ensure(bytes);
        copies_.back().request_huge_pages();
        return {rows, copies_.back().template as<Item>()};
    }
    // Copies keys and these items to their positions. Bytes moved per row: twice those of its items, and a key.
    template <class... Item>
    void take(const PlacedItems<Item>... items) const {
        each_row([keys = keys_, items...](u64 row, u64 position) {
            keys.take(row, position);
            (items.take(row, position), ...);
        });
    }
    // Copies results to their rows.
    template <class... Item>
    void give(const PlacedItems<Item>... results) const {
        each_row([=](u64 row, u64 position) { (results.give(row, position), ...); });
    }

private:
    static constexpr u64 bytes_of_row = 32;  // a key, a value, and their copies

    u32 part_of(Key key) const { return shard_of(placing_hash(key, seed_)); }

    void place_keys() {
        places_.resize(pieces_.number());
        for_each_piece(pieces_.number(), threads_, [&](u64 piece) {
            std::array<u64, shard_count> counts{};
            const u64 begin = pieces_.begin(piece), end = begin + pieces_.size(piece);
            for (u64 row = begin; row < end; ++row) ++counts[part_of(keys_.rows[row])];
            places_[piece] = counts;
        });
        u64 before = 0;
        for (u32 part = 0; part < number(); ++part) {
            begins_[part] = before;
            for (auto& place : places_) before += std::exchange(place[part], before);
        }
    }

    // Calls visit(row, position) for each row of several parts.
    template <class Visit>
    void each_row(const Visit& visit) const {
        if (number() == 1) return;
        for_each_piece(pieces_.number(), threads_, [&](u64 piece) {
            std::array<u64, shard_count> next = places_[piece];
            const u64 begin = pieces_.begin(piece), end = begin + pieces_.size(piece);
            for (u64 row = begin; row < end; ++row) visit(row, next[part_of(keys_.rows[row])]++);
        });
    }

    u64 count_, seed_;
    unsigned threads_;
    u32 number_;
    Pieces pieces_;
    PlacedItems<Key> keys_;
    std::vector<u64> begins_;                           // of the parts, and the end of the last one
    std::vector<std::array<u64, shard_count>> places_;  // the first position of each piece in each part
    std::vector<Region> copies_;
};

// Calls visit(shard, begin) for each of at most 64 shards, in parallel. `begin`: sum of the sizes of the shards before.
template <class Size, class Visit>
void each_shard_at(u64 count, const Size& size_of, unsigned threads, const Visit& visit) {
    u64 begins[shard_count], all = 0;
    for (u64 shard = 0; shard < count; ++shard) begins[shard] = std::exchange(all, all + size_of(shard));
    for_each_piece(count, threads_for(all, threads), [&](u64 shard) { visit(shard, begins[shard]); });
}

// Memory that is fetched before a search needs it: none in tables that a core's cache has.
enum class Prefetch { nothing, search, insertion };

inline Prefetch prefetch_for(u64 table_bytes, Prefetch wanted) {
    return table_bytes > cached_bytes ? wanted : Prefetch::nothing;
}

// Calls visit(hash, position) for keys in order. `table_of(hash)`: the table of a hash. `row_at(i)`: number of key i in
// `rows`, for i < count. The memory of the next searches is fetched first: tags, then slots.
//
// Inlined, so that `visit` keeps its values in registers while it stores flags, which may alias them.
template <class Key, class RowAt, class TableOf, class Visit>
[[gnu::always_inline]] inline void visit_chosen(const KeyRows<Key> rows, u64 count, const RowAt& row_at,
                                                Prefetch prefetch, const TableOf& table_of, const Visit& visit) {
    const auto hash_at = [=](u64 i) { return placing_hash(rows.keys[rows.first + row_at(i)], rows.seed); };
    if (prefetch == Prefetch::nothing) {
        for (u64 i = 0; i < count; ++i) visit(hash_at(i), rows.first + row_at(i));
        return;
    }
    u64 hashes[searches_in_flight];
    for (u64 at = 0; at < count; at += searches_in_flight) {
        const u64 few = std::min(searches_in_flight, count - at);
        for (u64 i = 0; i < few; ++i) hashes[i] = hash_at(at + i);
        for (u64 i = 0; i < few; ++i) table_of(hashes[i]).prefetch_tags(hashes[i]);
        const bool is_insertion = prefetch == Prefetch::insertion;
        for (u64 i = 0; i < few; ++i) table_of(hashes[i]).prefetch_slot(hashes[i], is_insertion);
        for (u64 i = 0; i < few; ++i) visit(hashes[i], rows.first + row_at(at + i));
    }
}
template <class Key, class TableOf, class Visit>
[[gnu::always_inline]] inline void visit_rows(const KeyRows<Key> rows, Prefetch prefetch, const TableOf& table_of,
                                              const Visit& visit) {
    visit_chosen(rows, rows.count, [](u64 i) { return i; }, prefetch, table_of, visit);
}

}  // namespace headrace
