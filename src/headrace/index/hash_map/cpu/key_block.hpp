// Searches for the keys of a block of a batch by vectors, before the block's operations run. Then those of keys that
// were found need no search. Others run one by one, in their order.
//
//     batch: sum a 1, sum b 2, sum a 3, sum b 4    map: a 5
//     a is found: 5 + 1 + 3 by the address of its slot. Then b is inserted with 2, and 4 is added to it.
//
// Equal keys of a block are either all found or all others, so each key has its operations in order. This holds if the
// tables did not change since the block's first search began; else operations run row by row.
#pragma once
#include <span>

#include "index/hash_map/cpu/flat_table.hpp"
#include "index/hash_map/cpu/search_kernels.hpp"
#include "index/hash_map/cpu/sharded_rows.hpp"

namespace headrace {

// The lines of a block's slots and tags stay in the first cache until its operations run.
constexpr u64 block_rows = 128;
// Fewer searches take less time one by one: a kernel first reads the heads of all tables.
constexpr u64 searched_by_kernel_from = 64;

// Returns the value of a position; that of sets has no bytes.
template <class Value>
[[gnu::always_inline]] inline Value value_at(const PlacedItems<Value>& values, u64 position) {
    if constexpr (sizeof(Value) < 4) {
        return {};
    } else {
        return values.items[position];
    }
}

// Calls visit(table, key, position) for keys in order. For parameters see visit_chosen.
template <class Key, class Table, class RowAt, class Visit>
[[gnu::always_inline]] inline void visit_tables(const KeyRows<Key>& rows, u64 count, const RowAt& row_at,
                                                Prefetch prefetch, ShardTables<Table> tables, const Visit& visit) {
    const Key* const keys = rows.keys;
    visit_chosen(rows, count, row_at, prefetch, tables,
                 [&](u64 hash, u64 position) { visit(tables(hash), HashedKey<Key>{keys[position], hash}, position); });
}

// Searches for the keys of a part of a batch, block by block. Searches of later blocks begin before the operations of
// a block run.
template <class Key, class Table>
class KeyBlocks {
public:
    // `kernel`: null to find no key. `tables`: those of the keys. `adds`: whether absent keys are among `others`.
    KeyBlocks(SearchKeys* kernel, const KeyRows<Key>& rows, const PartTables<Table>& tables, bool adds)
        : kernel_(rows.count < searched_by_kernel_from ? nullptr : kernel), rows_(rows), tables_(tables), adds_(adds) {}

    // Returns what to fetch for searches one by one, by the size of the tables now.
    Prefetch prefetch(Prefetch wanted) const { return prefetch_for(tables_.bytes(), wanted); }

    bool has_kernel() const { return kernel_ != nullptr; }

    // Searches for the keys of the block that follows the last one: rows from `begin` on. `found`: a flag for each of
    // them; null for none. Addresses of keys without one are that of `nowhere`.
    void search(u64 begin, u64 end, u8* found, void* nowhere) {
        if (!is_running_) start(begin);
        const Key* const keys = rows_.keys + rows_.first + base_;
        other_count_ = kernel_({heads_, keys, rows_.count - base_, rows_.seed, is_cached_, adds_, begin - base_,
                                end - base_, others_, found, nullptr, addresses_, reinterpret_cast<u64>(nowhere)},
                               pipeline_);
    }

    // Begins with new searches at the next block: a block was left out, or a table has moved.
    void restart() { is_running_ = false; }

    const u64* addresses() const { return addresses_; }
    template <class Item>
    Item* address(u64 i) const {
        return reinterpret_cast<Item*>(addresses_[i]);
    }
    // The numbers of keys in the block that were not found.
    std::span<const u32> others() const { return {others_, other_count_}; }

private:
    void start(u64 begin) {
        tables_.write_search_words(heads_);
        is_cached_ = tables_.bytes() <= cached_bytes;
        pipeline_.turn = 0;
        base_ = begin;
        is_running_ = true;
    }

    SearchKeys* kernel_;
    const KeyRows<Key> rows_;
    const PartTables<Table> tables_;
    bool adds_, is_cached_ = true, is_running_ = false;
    u64 base_ = 0;  // the first row of the pipeline
    u64 other_count_ = 0;
    u64 heads_[shard_count];
    SearchPipeline pipeline_;
    u64 addresses_[block_rows];
    u32 others_[block_rows + 16];
};

}  // namespace headrace
