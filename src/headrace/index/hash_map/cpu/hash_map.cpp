#include <atomic>
#include <mutex>
#include <stdexcept>

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

// What a shard's operations have changed: for each whether its key was new, and the replaced values in order.
template <class Value>
struct UndoLog {
    std::vector<bool> is_new;
    std::vector<Value> replaced;
};

template <class Value>
struct TakeLast {
    Value operator()(Value, Value next) const { return next; }
};
template <class Value>
struct TakeFirst {
    Value operator()(Value held, Value) const { return held; }
};
template <class Operator, class Value>
struct Reduction {
    Value operator()(Value held, Value next) const {
        using Item = typename Operator::Item;
        return bits_as<Value>(Operator::join(bits_as<Item>(held), bits_as<Item>(next)));
    }
};
template <class Item, class Value>
struct FloatSum {
    Value operator()(Value held, Value next) const {
        return bits_as<Value>(ordered_float_sum(bits_as<Item>(held), bits_as<Item>(next)));
    }
};

// Calls work(operation) with the operation on two values.
template <class Value, class Work>
void with_reduction(const Upsert& how, const Work& work) {
    if constexpr (sizeof(Value) < 4) {
        work(TakeFirst<Value>{});
    } else {
        using Signed = Either<sizeof(Value) == 8, i64, i32>;
        using Float = Either<sizeof(Value) == 8, double, float>;
        if (how.reduce == Reduce::last) return work(TakeLast<Value>{});
        if (how.reduce == Reduce::first) return work(TakeFirst<Value>{});
        const bool is_float = how.kind == NumberKind::floating, is_signed = how.kind == NumberKind::signed_integer;
        if (how.reduce == Reduce::sum) {
            return is_float ? work(FloatSum<Float, Value>{}) : work(Reduction<Sum<Value>, Value>{});
        }
        if (how.reduce == Reduce::min) {
            if (is_float) return work(Reduction<Min<Float>, Value>{});
            return is_signed ? work(Reduction<Min<Signed>, Value>{}) : work(Reduction<Min<Value>, Value>{});
        }
        if (is_float) return work(Reduction<Max<Float>, Value>{});
        return is_signed ? work(Reduction<Max<Signed>, Value>{}) : work(Reduction<Max<Value>, Value>{});
    }
}

template <class Key, class Value>
class ShardedMap final : public HostHashMap {
public:
    using Table = FlatTable<Key, Value>;

    ShardedMap(const std::shared_ptr<Budget>& budget, u64 seed) : seed_(seed) {
        for (u32 shard = 0; shard < shard_count; ++shard) shards_.emplace_back(budget, seed);
    }
    // A copy.
    explicit ShardedMap(const ShardedMap& other) : seed_(other.seed_) {
        for (const Table& table : other.shards_) shards_.push_back(table.copy());
    }

    std::unique_ptr<HostHashMap> copy() const override { return std::make_unique<ShardedMap>(*this); }

    void upsert(const PairBatch& batch, const Upsert& how, unsigned threads) override {
        with_reduction<Value>(how, [&](auto reduce) { upsert_by(batch, reduce, threads_for(batch.count, threads)); });
    }

    void replace(const PairBatch& batch, u8* found, unsigned threads) override {
        const Key* const keys = static_cast<const Key*>(batch.keys);
        visit_rows(keys, batch.count, threads, [&](Table& table, Key hash, u32 row) {
            auto* const slot = table.find(keys[row], hash);
            if (slot != nullptr) slot->value = value_at(batch.values, row);
            found[row] = slot != nullptr;
        });
    }

    void erase(const KeyBatch& batch, u8* found, unsigned threads) override {
        const Key* const keys = static_cast<const Key*>(batch.keys);
        visit_rows(keys, batch.count, threads,
                   [&](Table& table, Key hash, u32 row) { found[row] = table.erase(keys[row], hash); });
    }

    void find(const KeyBatch& batch, void* values, u8* found, unsigned threads) const override {
        const Pieces pieces(batch.count, 64);  // a search reads a cache line
        for_each_piece(pieces.number(), threads_for(batch.count, threads), [&](u64 piece) {
            const u64 end = pieces.begin(piece) + pieces.size(piece);
            for (u64 i = pieces.begin(piece); i < end; i += searches_in_flight) {
                find_few(static_cast<const Key*>(batch.keys), {i, std::min(searches_in_flight, end - i)}, values,
                         found);
            }
        });
    }

    void apply(const OperationBatch& batch, const OperationResults& results, unsigned threads) override {
        const Key* const keys = static_cast<const Key*>(batch.pairs.keys);
        threads = threads_for(batch.pairs.count, threads);
        const ShardedRows rows = shard_rows(keys, batch.pairs.count, seed_, threads);
        std::array<u64, shard_count> finished{};
        FirstError error;
        for_each_shard(threads, [&](u32 shard) {
            try {
                visit_shard(keys, rows, shard, [&](Table& table, Key hash, u32 row) {
                    if (error.is_set()) return false;
                    run_operation(table, {keys[row], hash}, row, batch, results);
                    ++finished[shard];
                    return true;
                });
            } catch (const std::bad_alloc&) {
                error.set(std::current_exception());
            }
        });
        if (!error.is_set()) return;
        for_each_shard(threads, [&](u32 shard) {
            for (u64 i = finished[shard]; i-- > 0;) {
                const u32 row = rows.first(shard)[i];
                const Key hash = hash_of(keys[row]);
                if (batch.operations[row] != static_cast<u8>(MapOperation::find)) {
                    write_state(shards_[shard], {keys[row], hash},
                                {value_at(results.values, row), results.found[row] != 0});
                }
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
        for_each_shard(threads_for(statistics().size, threads), [&](u32 shard) { shards_[shard].compact(); });
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
    struct FewRows {
        u64 begin, count;
    };

    static Value value_at(const void* values, u64 row) {
        if constexpr (sizeof(Value) < 4) {
            return {};
        } else {
            return static_cast<const Value*>(values)[row];
        }
    }

    void find_few(const Key* keys, FewRows rows, void* values, u8* found) const {
        Key hashes[searches_in_flight];
        for (u64 i = 0; i < rows.count; ++i) {
            hashes[i] = hash_of(keys[rows.begin + i]);
            shards_[shard_of(hashes[i])].prefetch(hashes[i]);
        }
        for (u64 i = 0; i < rows.count; ++i) {
            const u64 row = rows.begin + i;
            const auto* const slot = shards_[shard_of(hashes[i])].find(keys[row], hashes[i]);
            found[row] = slot != nullptr;
            if constexpr (sizeof(Value) >= 4) {
                if (values != nullptr) static_cast<Value*>(values)[row] = slot != nullptr ? slot->value : Value{};
            }
        }
    }

    // Calls visit(table, hash, row) for each of a shard's rows in order, until it returns false.
    template <class Visit>
    void visit_some(const Key* keys, const u32* rows, u64 count, Table& table, const Visit& visit) {
        Key hashes[searches_in_flight];
        for (u64 at = 0; at < count; at += searches_in_flight) {
            const u64 few = std::min(searches_in_flight, count - at);
            for (u64 i = 0; i < few; ++i) {
                hashes[i] = hash_of(keys[rows[at + i]]);
                table.prefetch(hashes[i]);
            }
            for (u64 i = 0; i < few; ++i) {
                if (!visit(table, hashes[i], rows[at + i])) return;
            }
        }
    }

    template <class Visit>
    void visit_shard(const Key* keys, const ShardedRows& rows, u32 shard, const Visit& visit) {
        visit_some(keys, rows.first(shard), rows.count(shard), shards_[shard], visit);
    }

    template <class Visit>
    void visit_rows(const Key* keys, u64 count, unsigned threads, const Visit& visit) {
        threads = threads_for(count, threads);
        const ShardedRows rows = shard_rows(keys, count, seed_, threads);
        for_each_shard(threads, [&](u32 shard) {
            visit_shard(keys, rows, shard, [&](Table& table, Key hash, u32 row) {
                visit(table, hash, row);
                return true;
            });
        });
    }

    // Whether a batch is run in its order: on one thread, in tables that are in a core's cache with all new keys.
    bool is_cached(u64 count, unsigned threads) const {
        return threads == 1 && statistics().bytes + 2 * count * sizeof(typename Table::FlatSlot) <= cached_bytes;
    }

    template <class Reduce>
    void upsert_in_order(const PairBatch& batch, const Reduce& reduce) {
        const Key* const keys = static_cast<const Key*>(batch.keys);
        const u64 before = statistics().size, first = batch.count / 8;
        UndoLog<Value> log;
        try {
            for (u64 row = 0; row < batch.count; ++row) {
                if (row == first && first >= shard_count) {
                    const u64 added = statistics().size - before;
                    const u64 more = expected_keys(added, first, batch.count) / shard_count;
                    for (Table& table : shards_) table.reserve(more);
                }
                const Key hash = hash_of(keys[row]);
                apply_one(shards_[shard_of(hash)], {keys[row], hash}, value_at(batch.values, row), reduce, &log);
            }
        } catch (const std::bad_alloc&) {
            for (u64 row = log.is_new.size(); row-- > 0;) undo_one(keys[row], log.is_new[row], log);
            throw;
        }
    }

    // Returns the number of new keys to expect in the rest of a batch: 0, unless most of the first rows had new keys.
    static u64 expected_keys(u64 added, u64 done, u64 count) {
        return 4 * added >= 3 * done ? (count - done) * added / done : 0;
    }

    template <class Reduce>
    void upsert_by(const PairBatch& batch, const Reduce& reduce, unsigned threads) {
        if (is_cached(batch.count, threads)) return upsert_in_order(batch, reduce);
        const Key* const keys = static_cast<const Key*>(batch.keys);
        const ShardedRows rows = shard_rows(keys, batch.count, seed_, threads);
        bool may_fail = false;
        for (u32 shard = 0; shard < shard_count; ++shard) may_fail |= !shards_[shard].has_space_for(rows.count(shard));
        std::vector<UndoLog<Value>> logs(shard_count);
        FirstError error;
        for_each_shard(threads, [&](u32 shard) {
            UndoLog<Value>* const log = may_fail ? &logs[shard] : nullptr;
            Table& own = shards_[shard];
            const u64 before = own.size(), count = rows.count(shard), first = may_fail ? count / 8 : 0;
            const auto visit = [&](Table& table, Key hash, u32 row) {
                if (may_fail && error.is_set()) return false;
                apply_one(table, {keys[row], hash}, value_at(batch.values, row), reduce, log);
                return true;
            };
            try {
                for (u64 begin = 0, end = first; begin < count; begin = end, end = count) {
                    visit_some(keys, rows.first(shard) + begin, end - begin, own, visit);
                    if (end != 0 && end != count) own.reserve(expected_keys(own.size() - before, end, count));
                }
            } catch (const std::bad_alloc&) {
                error.set(std::current_exception());
            }
        });
        if (!error.is_set()) return;
        for_each_shard(threads, [&](u32 shard) { undo(keys, rows, shard, logs[shard]); });
        error.rethrow();
    }

    struct HashedKey {
        Key key, hash;
    };

    // Runs an operation, and writes the key's value before it. If memory is refused, nothing has changed.
    static void run_operation(Table& table, HashedKey key, u32 row, const OperationBatch& batch,
                              const OperationResults& results) {
        const auto operation = static_cast<MapOperation>(batch.operations[row]);
        const auto* const slot = table.find(key.key, key.hash);
        const OptionalValue<Value> held{slot == nullptr ? Value{} : slot->value, slot != nullptr};
        const auto next = operate(held, operation, batch.kind, value_at(batch.pairs.values, row));
        if (operation != MapOperation::find) write_state(table, key, next);
        results.found[row] = held.is_present;
        if constexpr (sizeof(Value) >= 4) static_cast<Value*>(results.values)[row] = held.value;
    }

    // Gives a key a value, or none.
    static void write_state(Table& table, HashedKey key, OptionalValue<Value> state) {
        if (state.is_present) {
            table.insert(key.key, key.hash).slot->value = state.value;
        } else {
            table.erase(key.key, key.hash);
        }
    }

    // Inlined into the loops of both callers.
    template <class Reduce>
    [[gnu::always_inline]] static void apply_one(Table& table, HashedKey key, Value value, const Reduce& reduce,
                                                 UndoLog<Value>* log) {
        const auto insertion = table.insert(key.key, key.hash);
        if (log != nullptr) {
            log->is_new.push_back(insertion.is_new);
            if (!insertion.is_new) log->replaced.push_back(insertion.slot->value);
        }
        insertion.slot->value = insertion.is_new ? value : reduce(insertion.slot->value, value);
    }

    void undo(const Key* keys, const ShardedRows& rows, u32 shard, UndoLog<Value>& log) {
        for (u64 i = log.is_new.size(); i-- > 0;) undo_one(keys[rows.first(shard)[i]], log.is_new[i], log);
    }

    void undo_one(Key key, bool is_new, UndoLog<Value>& log) {
        const Key hash = hash_of(key);
        Table& table = shards_[shard_of(hash)];
        if (is_new) {
            table.erase(key, hash);
        } else {
            table.find(key, hash)->value = log.replaced.back();
            log.replaced.pop_back();
        }
    }

    Key hash_of(Key key) const { return seeded_hash(key, seed_); }

    u64 seed_;
    std::vector<Table> shards_;
};

template <class Key>
std::unique_ptr<HostHashMap> map_of(u32 value_width, const std::shared_ptr<Budget>& budget, u64 seed) {
    if (value_width == 0) return std::make_unique<ShardedMap<Key, NoValue>>(budget, seed);
    if (value_width == 4) return std::make_unique<ShardedMap<Key, u32>>(budget, seed);
    if (value_width == 8) return std::make_unique<ShardedMap<Key, u64>>(budget, seed);
    throw std::invalid_argument("no such width of values");
}

}  // namespace

std::unique_ptr<HostHashMap> new_hash_map(const PairWidths& widths, const std::shared_ptr<Budget>& budget, u64 seed) {
    if (widths.key == 4) return map_of<u32>(widths.value, budget, seed);
    if (widths.key == 8) return map_of<u64>(widths.value, budget, seed);
    throw std::invalid_argument("no such width of keys");
}

}  // namespace headrace
