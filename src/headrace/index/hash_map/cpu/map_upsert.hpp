// Runs insertions and reductions on a map's tables: found keys by the addresses of their slots, others one by one.
#pragma once
#include <vector>

#include "index/hash_map/cpu/flat_table.hpp"
#include "index/hash_map/cpu/key_block.hpp"
#include "index/hash_map/cpu/undo_log.hpp"

namespace headrace {

template <class Value, class Joined>
struct UpsertBatch {
    PlacedItems<Value> values;
    Joined reduce;  // reductions.hpp
    const UndoLog<Value>& log;
    SearchKeys* kernel;
};

// The operations of one part of a batch.
template <class Key, class Value, class Joined>
class MapUpsert {
public:
    using Table = FlatTable<Key, Value>;

    // `part`: the tables of the part.
    MapUpsert(ShardTables<Table> all, const PartTables<Table>& part, const KeyRows<Key>& rows,
              const UpsertBatch<Value, Joined>& batch)
        : all_(all),
          tables_(part.tables),
          rows_(rows),
          batch_(batch),
          blocks_(batch.kernel, rows, part, true),
          finished_(rows.first) {}

    // After an eighth of the rows, tables grow once for the rest, if most keys are new.
    void run() {
        const u64 before = size(), first = batch_.log.notes() ? rows_.count / 128 * 16 : 0;
        has_new_keys_ = before == 0;
        if (before == 0) reserve(std::min(rows_.count, first_keys) / tables_.size());
        run_rows(0, first);
        reserve(expected_keys(size() - before, first) / tables_.size());
        run_rows(first, rows_.count);
    }
    // The position after the last operation that has run.
    u64 finished() const { return finished_; }

private:
    using Slot = typename Table::FlatSlot;
    using Blocks = KeyBlocks<Key, Table>;
    static constexpr u64 unsearched_rows = 4 * block_rows;  // rows of a block that run one by one
    // An empty map takes memory for that many keys of a batch at once, if they are new or not.
    static constexpr u64 first_keys = 1024;

    u64 size() const {
        u64 sum = 0;
        for (const Table& table : tables_) sum += table.size();
        return sum;
    }
    void reserve(u64 more) {
        if (more == 0) return;
        for (Table& table : tables_) table.reserve(more);
        blocks_.restart();
    }
    // Returns the number of new keys to expect in the rest of a batch: 0, unless most of the first rows had new keys.
    u64 expected_keys(u64 added, u64 done) const {
        return 4 * added >= 3 * done ? (rows_.count - done) * added / std::max<u64>(done, 1) : 0;
    }

    // Keys are searched for first unless the block before had many new ones.
    void run_rows(u64 begin, u64 end) {
        const Prefetch prefetch = blocks_.prefetch(Prefetch::insertion);
        Slot nowhere{};
        for (u64 at = begin; at < end;) {
            const bool is_searched = !has_new_keys_ && blocks_.has_kernel();
            const KeyRows<Key> few = rows_.part(at, std::min(at + (is_searched ? block_rows : unsearched_rows), end));
            at += few.count;
            u64 added = 0;
            if (!is_searched) {
                blocks_.restart();
                added = run_each(few, prefetch);
            } else {
                blocks_.search(at - few.count, at, nullptr, &nowhere);
                added = run_searched(few, prefetch);
            }
            finished_ = few.first + few.count;
            has_new_keys_ = many_parts * added > few.count;
        }
    }

    // Runs operations of keys of a block that have a slot.
    [[gnu::always_inline]] void run_found(const KeyRows<Key>& rows, u64 begin, u64 end) {
        if (begin == end) return;
        if constexpr (sizeof(Value) >= 4) {
            const u64* const addresses = blocks_.addresses();
            const Value* const values = batch_.values.items + rows.first;
            Value* const replaced = batch_.log.notes() ? batch_.log.replaced() + rows.first : nullptr;
            batch_.reduce.without_branch([=](auto reduce) {
                for (u64 i = begin; i < end; ++i) {
                    Slot* const slot = reinterpret_cast<Slot*>(addresses[i]);
                    const Value held = slot->value;
                    if (replaced != nullptr) replaced[i] = held;
                    slot->value = reduce(held, values[i]);
                }
            });
        }
        if (batch_.log.notes())
            std::fill(batch_.log.changes() + rows.first + begin, batch_.log.changes() + rows.first + end,
                      Change::replaced);
    }

    // Runs the operations of a block in their order, and returns the number of keys added. The searches of the next
    // block have begun: they miss these keys, which are then inserted again. If a table has moved, no address is used.
    u64 run_searched(const KeyRows<Key>& rows, Prefetch prefetch) {
        if (prefetch != Prefetch::nothing) {
            for (const u32 i : blocks_.others()) {
                const u64 hash = placing_hash(rows.keys[rows.first + i], rows.seed);
                all_(hash).prefetch_slot(hash, true);
            }
        }
        const Operation run(*this);
        u64 added = 0, at = 0;
        const bool has_few_others = 8 * blocks_.others().size() <= rows.count;
        for (const u32 other : blocks_.others()) {
            if (has_few_others) {
                run_found(rows, at, other);
            } else {
                for (; at < other; ++at) run.on(blocks_.template address<Slot>(at), rows.first + at);
            }
            const u64 position = rows.first + other, hash = placing_hash(rows.keys[position], rows.seed);
            Table& table = all_(hash);
            const u64 place = table.search_word();
            finished_ = position;
            added += run.in(table, {rows.keys[position], hash}, position);
            at = other + 1;
            if (table.search_word() == place) continue;
            blocks_.restart();
            return added + run_each(rows.part(at, rows.count), prefetch);
        }
        run_found(rows, at, rows.count);
        return added;
    }

    // Runs operations one by one, and returns the number of keys added.
    u64 run_each(const KeyRows<Key>& rows, Prefetch prefetch) {
        u64 at = rows.first, added = 0;
        try {
            visit_tables(
                rows, rows.count, [](u64 i) { return i; }, prefetch, all_,
                [&, run = Operation(*this)](Table& table, HashedKey<Key> key, u64 position) {
                    at = position;
                    added += run.in(table, key, position);
                });
        } catch (...) {
            finished_ = at;
            throw;
        }
        return added;
    }

    // Runs operations. Its pointers stay in registers.
    class Operation {
    public:
        explicit Operation(const MapUpsert& of)
            : values_(of.batch_.values),
              reduce_(of.batch_.reduce),
              changes_(of.batch_.log.notes() ? of.batch_.log.changes() : nullptr),
              replaced_(of.batch_.log.replaced()) {}

        // The key has a slot.
        [[gnu::always_inline]] void on(Slot* slot, u64 position) const {
            note(slot, position);
            slot->value = reduce_(slot->value, value_at(values_, position));
        }
        // The key may be absent. Returns whether it was.
        [[gnu::always_inline]] bool in(Table& table, HashedKey<Key> key, u64 position) const {
            const auto candidates = table.candidates_of(key.hash);
            if (Slot* const slot = table.find(key.key, key.hash, candidates); slot != nullptr) {
                on(slot, position);
                return false;
            }
            Slot* const slot = table.insert_absent(key.key, key.hash, candidates);
            if (changes_ != nullptr) changes_[position] = Change::added;
            slot->value = value_at(values_, position);
            return true;
        }

    private:
        [[gnu::always_inline]] void note(const Slot* slot, u64 position) const {
            if (changes_ == nullptr) return;
            changes_[position] = Change::replaced;
            replaced_[position] = slot->value;
        }

        const PlacedItems<Value> values_;
        const Joined reduce_;
        Change* const changes_;
        Value* const replaced_;
    };

    static constexpr u64 many_parts = 2;  // a block has many new keys if they are more than this part

    const ShardTables<Table> all_;
    const std::span<Table> tables_;
    const KeyRows<Key> rows_;
    const UpsertBatch<Value, Joined> batch_;
    Blocks blocks_;
    u64 finished_;
    bool has_new_keys_ = false;
};

}  // namespace headrace
