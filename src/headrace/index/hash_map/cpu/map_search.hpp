// Finds the values of keys in a map's tables: by a kernel, or one by one.
#pragma once
#include <span>

#include "index/hash_map/cpu/flat_table.hpp"
#include "index/hash_map/cpu/search_kernels.hpp"
#include "index/hash_map/cpu/sharded_rows.hpp"

namespace headrace {

// Values of sets have fewer than 4 bytes and are not written, nor are those of other maps if `values` is null.
template <class Key, class Value>
class MapSearch {
public:
    using Table = FlatTable<Key, Value>;

    explicit MapSearch(std::span<const Table> tables) : all_{tables}, tables_(tables), bytes_(all_.bytes()) {}

    // Writes the results of searches by a kernel.
    void by_kernel(SearchKeys* kernel, const KeyRows<Key>& rows, void* values, u8* found) const {
        constexpr u64 most = 4096;
        u64 heads[shard_count];
        u32 unfinished[most + 16];
        SearchPipeline pipeline;
        all_.write_search_words(heads);
        for (u64 at = 0; at < rows.count; at += most) {
            const u64 first = rows.first + at;
            void* const values_of = values == nullptr ? nullptr : static_cast<u8*>(values) + first * sizeof(Value);
            const u64 few =
                kernel({heads, rows.keys + rows.first, rows.count, rows.seed, bytes_ <= cached_bytes, false, at,
                        std::min(at + most, rows.count), unfinished, found + first, values_of, nullptr, 0},
                       pipeline);
            for (u64 i = 0; i < few; ++i) {
                const u64 row = first + unfinished[i], hash = placing_hash(rows.keys[row], rows.seed);
                const auto* const slot = tables_(hash).find(rows.keys[row], hash);
                found[row] = slot != nullptr;
                if constexpr (sizeof(Value) >= 4) {
                    if (values != nullptr) static_cast<Value*>(values)[row] = slot != nullptr ? slot->value : Value{};
                }
            }
        }
    }

    // Writes the result of each search. In large tables the tags of all keys are compared before a slot is read.
    template <bool has_values>
    void one_by_one(const KeyRows<Key>& rows, void* values, u8* found) const {
        const Key* const keys = rows.keys;
        const ShardTables<const Table> tables = tables_;
        const auto write = [=](u64 row, const auto* slot) {
            found[row] = slot != nullptr;
            if constexpr (has_values) static_cast<Value*>(values)[row] = slot != nullptr ? slot->value : Value{};
        };
        if (bytes_ <= cached_bytes) {
            return visit_rows(rows, Prefetch::nothing, tables,
                              [=](u64 hash, u64 row) { write(row, tables(hash).find(keys[row], hash)); });
        }
        u64 hashes[searches_in_flight];
        typename Table::Candidates candidates[searches_in_flight];
        for (u64 at = 0; at < rows.count; at += searches_in_flight) {
            const u64 few = std::min(searches_in_flight, rows.count - at), first = rows.first + at;
            for (u64 i = 0; i < few; ++i) hashes[i] = placing_hash(keys[first + i], rows.seed);
            for (u64 i = 0; i < few && bytes_ > cached_with_tags; ++i) {
                tables(hashes[i]).prefetch_tags(hashes[i]);
            }
            for (u64 i = 0; i < few; ++i) {
                candidates[i] = tables(hashes[i]).candidates_of(hashes[i]);
                candidates[i].prefetch();
            }
            for (u64 i = 0; i < few; ++i) {
                write(first + i, tables(hashes[i]).find(keys[first + i], hashes[i], candidates[i]));
            }
        }
    }

private:
    const PartTables<const Table> all_;
    const ShardTables<const Table> tables_;
    const u64 bytes_;  // of all tables
};

}  // namespace headrace
