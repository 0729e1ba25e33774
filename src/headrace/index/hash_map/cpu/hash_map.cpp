#include <atomic>
#include <mutex>
#include <span>

#include "arrange/gather/widths.hpp"
#include "core/operators.hpp"
#include "index/hash_map/cpu/flat_table.hpp"
#include "index/hash_map/cpu/hash_map_host.hpp"
#include "index/hash_map/cpu/sharded_rows.hpp"

namespace headrace {
namespace {

// The first error of several threads.
class FirstError {
public:
    bool is_set() const { return is_set_.load(std::memory_order_relaxed); }
    void set(std::exception_ptr error) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::move(error);
        is_set_.store(true, std::memory_order_relaxed);
    }
    void rethrow() const { std::rethrow_exception(error_); }

private:
    std::mutex mutex_;
    std::exception_ptr error_;
    std::atomic<bool> is_set_{false};
};

// The changes of a batch, by the positions of its operations in their parts: whether the key was new, else the value
// that was replaced. Its memory is a region, whose pages a later batch uses again.
template <class Value>
class UndoLog {
public:
    explicit UndoLog(u64 count) : count_(count), region_(count * (sizeof(Value) + 1), nullptr) {
        region_.ensure(count * (sizeof(Value) + 1));
    }
    Value* replaced() const { return region_.template as<Value>(); }
    bool* is_new() const { return reinterpret_cast<bool*>(replaced() + count_); }

private:
    u64 count_;
    Region region_;
};

template <class Value>
struct TakeLast {
    Value operator()(Value, Value next) const { return next; }
};
template <class Value>
struct Reduction {
    MapOperation operation;
    NumberKind kind;

    Value operator()(Value held, Value next) const {
        return operation == MapOperation::first ? held : reduced_value(operation, kind, held, next);
    }
};

MapOperation operation_of(Reduce reduce) {
    constexpr MapOperation operations[] = {MapOperation::insert, MapOperation::first, MapOperation::sum,
                                           MapOperation::min, MapOperation::max};
    return operations[static_cast<u32>(reduce)];
}

template <class Key, class Value>
class ShardedMap final : public HostHashMap {
public:
    using Table = FlatTable<Key, Value>;

    ShardedMap(const std::shared_ptr<Budget>& budget, u64 seed) : seed_(seed) {
        for (u32 shard = 0; shard < shard_count; ++shard) shards_.emplace_back(budget, seed, shard);
    }
    // A copy.
    explicit ShardedMap(const ShardedMap& other) : seed_(other.seed_) {
        for (const Table& table : other.shards_) shards_.push_back(table.copy());
    }

    std::unique_ptr<HostHashMap> copy() const override { return std::make_unique<ShardedMap>(*this); }

    void upsert(const PairBatch& batch, const Upsert& how, unsigned threads) override {
        threads = threads_for(batch.count, threads);
        if constexpr (sizeof(Value) >= 4) {
            if (how.reduce != Reduce::last) {
                return upsert_by(batch, Reduction<Value>{operation_of(how.reduce), how.kind}, threads);
            }
        }
        upsert_by(batch, TakeLast<Value>{}, threads);
    }

    void replace(const PairBatch& batch, u8* found, unsigned threads) override {
        each_part(static_cast<const Key*>(batch.keys), batch.count, threads, [&](const PartKeys& keys) {
            const void* const values = batch.values;
            u8* const marks = found;
            visit_part(keys, Prefetch::search, [=](Table& table, HashedKey<Key> key, u64 row) {
                auto* const slot = table.find(key.key, key.hash);
                if (slot != nullptr) slot->value = value_at(values, row);
                marks[row] = slot != nullptr;
            });
        });
    }

    void erase(const KeyBatch& batch, u8* found, unsigned threads) override {
        each_part(static_cast<const Key*>(batch.keys), batch.count, threads, [&](const PartKeys& keys) {
            u8* const marks = found;
            visit_part(keys, Prefetch::search,
                       [=](Table& table, HashedKey<Key> key, u64 row) { marks[row] = table.erase(key.key, key.hash); });
        });
    }

    void find(const KeyBatch& batch, void* values, u8* found, unsigned threads) const override {
        const Key* const keys = static_cast<const Key*>(batch.keys);
        const Pieces pieces(batch.count, 64);  // a search reads a cache line or two
        for_each_piece(pieces.number(), threads_for(batch.count, threads), [&](u64 piece) {
            find_part({keys, {nullptr, pieces.begin(piece), pieces.size(piece)}, seed_}, values, found);
        });
    }

    void apply(const OperationBatch& batch, const OperationResults& results, unsigned threads) override {
        const Key* const keys = static_cast<const Key*>(batch.pairs.keys);
        threads = threads_for(batch.pairs.count, threads);
        const BatchParts parts = batch_parts(keys, batch.pairs.count, seed_, threads);
        std::vector<u64> finished(parts.number());
        FirstError error;
        for_each_piece(parts.number(), threads, [&](u64 part) {
            try {
                visit_part({keys, parts[part], seed_}, Prefetch::insertion,
                           [&](Table& table, HashedKey<Key> key, u64 row) {
                               run_operation(table, key, row, batch, results);
                               ++finished[part];
                           });
            } catch (const std::bad_alloc&) {
                error.set(std::current_exception());
            }
        });
        if (!error.is_set()) return;
        for_each_piece(parts.number(), threads, [&](u64 part) {
            for (u64 i = finished[part]; i-- > 0;) {
                const u64 row = parts[part][i];
                if (batch.operations[row] == static_cast<u8>(MapOperation::find)) continue;
                const Key hash = hash_of(keys[row]);
                write_state(table_of(hash), {keys[row], hash},
                            {value_at(results.values, row), results.found[row] != 0});
            }
        });
        error.rethrow();
    }

    void items(void* keys, void* values) const override {
        u64 at = 0;
        for (const Table& table : shards_) {
            table.each([&](const auto& slot) {
                static_cast<Key*>(keys)[at] = slot.key;
                if constexpr (sizeof(Value) >= 4) static_cast<Value*>(values)[at] = slot.value;
                ++at;
            });
        }
    }

    void clear() override {
        for (Table& table : shards_) table.clear();
    }

    void compact(unsigned threads) override {
        for_each_piece(shard_count, threads_for(statistics().size, threads),
                       [&](u64 shard) { shards_[shard].compact(); });
    }

    TableStatistics statistics() const override {
        TableStatistics sums{};
        for (const Table& table : shards_) {
            sums.size += table.size();
            sums.capacity += table.capacity();
            sums.bytes += table.bytes();
        }
        return sums;
    }

private:
    using PartKeys = KeyRows<Key>;
    static Value value_at(const void* values, u64 row) {
        if constexpr (sizeof(Value) < 4) {
            return {};
        } else {
            return static_cast<const Value*>(values)[row];
        }
    }

    Table& table_of(Key hash) { return shards_[shard_of(hash)]; }
    // Other threads change the tables of other parts, which have about as many bytes.
    Prefetch prefetch_of(Prefetch wanted, const PartKeys& part) const {
        const u64 bytes = part.has_all_tables() ? statistics().bytes : shard_count * shards_[part.table()].bytes();
        return prefetch_for(bytes, wanted);
    }

    void find_part(const PartKeys& part, void* values, u8* found) const {
        const Key* const keys = part.keys;
        const Table* const tables = shards_.data();
        visit_rows(
            part, prefetch_of(Prefetch::search, part), [=](Key hash) -> const Table& { return tables[shard_of(hash)]; },
            [=](Key hash, u64 row) {
                const auto* const slot = tables[shard_of(hash)].find(keys[row], hash);
                found[row] = slot != nullptr;
                if constexpr (sizeof(Value) >= 4) {
                    if (values != nullptr) static_cast<Value*>(values)[row] = slot != nullptr ? slot->value : Value{};
                }
            });
    }

    // Calls visit(table, key, row) for rows of a part in order.
    template <class Visit>
    [[gnu::always_inline]] void visit_part(const PartKeys& part, Prefetch what, const Visit& visit) {
        if (part.rows.count == 0) return;
        const Key* const keys = part.keys;
        Table* const tables = shards_.data();
        visit_rows(
            part, prefetch_of(what, part), [=](Key hash) -> Table& { return tables[shard_of(hash)]; },
            [&](Key hash, u64 row) { visit(tables[shard_of(hash)], HashedKey<Key>{keys[row], hash}, row); });
    }

    // Calls work(keys) for each part of a batch.
    template <class Work>
    void each_part(const Key* keys, u64 count, unsigned threads, const Work& work) {
        threads = threads_for(count, threads);
        const BatchParts parts = batch_parts(keys, count, seed_, threads);
        for_each_piece(parts.number(), threads, [&](u64 part) { work(PartKeys{keys, parts[part], seed_}); });
    }

    // The tables of a part of a batch.
    std::span<Table> tables_of(const BatchParts& parts, u64 part) {
        const u32 count = parts.tables_of_part();
        return std::span(shards_).subspan(part * count, count);
    }

    static u64 size_of(std::span<const Table> tables) {
        u64 sum = 0;
        for (const Table& table : tables) sum += table.size();
        return sum;
    }

    // Returns whether a table may have to grow.
    bool may_grow(const BatchParts& parts) {
        for (u32 part = 0; part < parts.number(); ++part) {
            for (const Table& table : tables_of(parts, part)) {
                if (!table.has_space_for(parts[part].count)) return true;
            }
        }
        return false;
    }

    // Returns the number of new keys to expect in the rest of a batch: 0, unless most of the first rows had new keys.
    static u64 expected_keys(u64 added, u64 done, u64 count) {
        return 4 * added >= 3 * done ? (count - done) * added / done : 0;
    }

    template <class Joined>
    void upsert_by(const PairBatch& batch, const Joined& reduce, unsigned threads) {
        const Key* const keys = static_cast<const Key*>(batch.keys);
        const BatchParts parts = batch_parts(keys, batch.count, seed_, threads);
        const bool may_fail = may_grow(parts);
        const UndoLog<Value> log(may_fail ? batch.count : 0);  // empty if no operation can fail
        std::vector<u64> finished(parts.number());
        FirstError error;
        for_each_piece(parts.number(), threads, [&](u64 part) {
            const RowList rows = parts[part];
            const std::span<Table> tables = tables_of(parts, part);
            const u64 before = size_of(tables), first = may_fail ? rows.count / 8 : 0;
            LoggedPart logged{may_fail ? &log : nullptr, parts.begins[part]};
            try {
                upsert_part({keys, rows.part(0, first), seed_}, batch.values, reduce, logged);
                if (first >= tables.size()) {
                    const u64 expected = expected_keys(size_of(tables) - before, first, rows.count);
                    for (Table& table : tables) table.reserve(expected / tables.size());
                }
                upsert_part({keys, rows.part(first, rows.count), seed_}, batch.values, reduce, logged);
            } catch (const std::bad_alloc&) {
                error.set(std::current_exception());
            }
            finished[part] = logged.position - parts.begins[part];
        });
        if (!error.is_set()) return;
        for_each_piece(parts.number(), threads, [&](u64 part) {
            for (u64 i = finished[part]; i-- > 0;) undo_one(keys[parts[part][i]], log, parts.begins[part] + i);
        });
        error.rethrow();
    }

    // A part's operations in the log; null if none can fail.
    struct LoggedPart {
        const UndoLog<Value>* log;
        u64 position;  // of the next operation
    };

    template <class Joined>
    [[gnu::noinline]] void upsert_part(const PartKeys& part, const void* values, const Joined& reduce,
                                       LoggedPart& logged) {
        bool* const is_new = logged.log == nullptr ? nullptr : logged.log->is_new();
        Value* const replaced = logged.log == nullptr ? nullptr : logged.log->replaced();
        visit_part(part, Prefetch::insertion,
                   [=, &position = logged.position](Table& table, HashedKey<Key> key, u64 row) {
                       const auto [slot, is_added] = table.insert(key.key, key.hash);
                       if (is_new != nullptr) {
                           is_new[position] = is_added;
                           if (!is_added) replaced[position] = slot->value;
                           ++position;
                       }
                       const Value value = value_at(values, row);
                       slot->value = is_added ? value : reduce(slot->value, value);
                   });
    }

    // Runs an operation, and writes the key's value before it. If memory is refused, nothing has changed.
    static void run_operation(Table& table, HashedKey<Key> key, u64 row, const OperationBatch& batch,
                              const OperationResults& results) {
        const auto operation = static_cast<MapOperation>(batch.operations[row]);
        auto* const slot = table.find(key.key, key.hash);
        const OptionalValue<Value> held{slot == nullptr ? Value{} : slot->value, slot != nullptr};
        const auto next = operate(held, operation, batch.kind, value_at(batch.pairs.values, row));
        if (slot != nullptr && next.is_present) {
            slot->value = next.value;
        } else if (slot != nullptr) {
            table.erase_slot(slot, key.hash);
        } else if (next.is_present) {
            table.insert_absent(key.key, key.hash)->value = next.value;
        }
        results.found[row] = held.is_present;
        if constexpr (sizeof(Value) >= 4) static_cast<Value*>(results.values)[row] = held.value;
    }

    // Gives a key a value, or none.
    static void write_state(Table& table, HashedKey<Key> key, OptionalValue<Value> state) {
        if (state.is_present) {
            table.insert(key.key, key.hash).slot->value = state.value;
        } else {
            table.erase(key.key, key.hash);
        }
    }

    void undo_one(Key key, const UndoLog<Value>& log, u64 position) {
        const Key hash = hash_of(key);
        if (log.is_new()[position]) {
            table_of(hash).erase(key, hash);
        } else {
            table_of(hash).find(key, hash)->value = log.replaced()[position];
        }
    }

    Key hash_of(Key key) const { return seeded_hash(key, seed_); }

    u64 seed_;
    std::vector<Table> shards_;
};

}  // namespace

std::unique_ptr<HostHashMap> new_hash_map(const PairWidths& widths, const std::shared_ptr<Budget>& budget, u64 seed) {
    using Result = std::unique_ptr<HostHashMap>;
    return with_width<u32, u64>(widths.key, [&]<class Key>(Key) -> Result {
        if (widths.value == 0) return std::make_unique<ShardedMap<Key, NoValue>>(budget, seed);
        return with_width<u32, u64>(widths.value, [&]<class Value>(Value) -> Result {
            return std::make_unique<ShardedMap<Key, Value>>(budget, seed);
        });
    });
}

}  // namespace headrace
