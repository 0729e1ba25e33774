#include <atomic>
#include <mutex>
#include <span>

#include "arrange/gather/widths.hpp"
#include "core/operators.hpp"
#include "index/hash_map/cpu/flat_table.hpp"
#include "index/hash_map/cpu/hash_map_host.hpp"
#include "index/hash_map/cpu/search_kernels.hpp"
#include "index/hash_map/cpu/sharded_rows.hpp"

namespace headrace {

HR_FOR_EACH_ISA(SearchKeys*(u32 key_width, u32 value_width), search_kernel)

namespace {

// Fewer searches take less time one by one: a kernel first reads the heads of all tables.
constexpr u64 searched_by_kernel_from = 64;

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
struct WrappedSum {
    Value operator()(Value held, Value next) const { return static_cast<Value>(held + next); }
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
        if constexpr (sizeof(Value) >= 4) {
            if (how.reduce == Reduce::sum && how.kind != NumberKind::floating) {
                return upsert_by(batch, WrappedSum<Value>{}, threads);
            }
            if (how.reduce != Reduce::last) {
                return upsert_by(batch, Reduction<Value>{operation_of(how.reduce), how.kind}, threads);
            }
        }
        upsert_by(batch, TakeLast<Value>{}, threads);
    }

    void replace(const PairBatch& batch, u8* found, unsigned threads) override {
        Parts parts(batch.keys, batch.count, seed_, threads);
        const auto values = parts.template placed<Value>(batch.values);
        const auto marks = parts.template placed<u8>(found);
        parts.take(values);
        each_part(parts, Prefetch::search, [=](Table& table, HashedKey<Key> key, u64 position) {
            auto* const slot = table.find(key.key, key.hash);
            if (slot != nullptr) slot->value = value_at(values, position);
            marks.items[position] = slot != nullptr;
        });
        parts.give(marks);
    }

    void erase(const KeyBatch& batch, u8* found, unsigned threads) override {
        Parts parts(batch.keys, batch.count, seed_, threads);
        const auto marks = parts.template placed<u8>(found);
        parts.take();
        each_part(parts, Prefetch::search, [=](Table& table, HashedKey<Key> key, u64 position) {
            marks.items[position] = table.erase(key.key, key.hash);
        });
        parts.give(marks);
    }

    void find(const KeyBatch& batch, void* values, u8* found, const SearchResources& resources) const override {
        const Pieces pieces(batch.count, 64);  // a search reads a cache line or two
        const u64 bytes = bytes_of(shards_);
        SearchKeys* const kernel = search_kernel_for(resources.isa)(sizeof(Key), value_width);
        for_each_piece(pieces.number(), threads_for(batch.count, resources.threads), [&](u64 piece) {
            const KeyRows<Key> rows{static_cast<const Key*>(batch.keys), pieces.begin(piece), pieces.size(piece),
                                    seed_};
            if (kernel != nullptr && rows.count >= searched_by_kernel_from) {
                return find_by_kernel(kernel, rows, values, found, bytes);
            }
            if constexpr (sizeof(Value) >= 4) {
                if (values != nullptr) return find_part<true>(rows, values, found, bytes);
            }
            find_part<false>(rows, values, found, bytes);
        });
    }

    void apply(const OperationBatch& batch, const OperationResults& results, unsigned threads) override {
        Parts parts(batch.pairs.keys, batch.pairs.count, seed_, threads);
        const PlacedOperations given{parts.template placed<u8>(batch.operations),
                                     parts.template placed<Value>(batch.pairs.values), batch.kind};
        const PlacedResults to{parts.template placed<Value>(results.values), parts.template placed<u8>(results.found)};
        parts.take(given.operations, given.values);
        std::vector<u64> finished(parts.number());
        FirstError error;
        for_each_piece(parts.number(), parts.threads(), [&](u64 part) {
            try {
                visit_part(parts[part], tables_of(parts, part), Prefetch::insertion,
                           [&](Table& table, HashedKey<Key> key, u64 position) {
                               run_operation(table, key, position, given, to);
                               ++finished[part];
                           });
            } catch (const std::bad_alloc&) {
                error.set(std::current_exception());
            }
        });
        if (error.is_set()) {
            for_each_piece(parts.number(), parts.threads(), [&](u64 part) {
                for (u64 i = finished[part]; i-- > 0;) {
                    const u64 position = parts.begin(part) + i;
                    if (given.operations.items[position] == static_cast<u8>(MapOperation::find)) continue;
                    const Key key = parts.key_at(position);
                    const u64 hash = hash_of(key);
                    write_state(table_of(hash), {key, hash},
                                {value_at(to.values, position), to.found.items[position] != 0});
                }
            });
            error.rethrow();
        }
        parts.give(to.values, to.found);
    }

    void items(void* keys, void* values, unsigned threads) const override {
        const auto size_of_shard = [&](u64 shard) { return shards_[shard].size(); };
        each_shard_at(size_of_shard, threads, [=, this](u64 shard, u64 at) {
            shards_[shard].each([=, &at](const auto& slot) {
                static_cast<Key*>(keys)[at] = slot.key;
                if constexpr (sizeof(Value) >= 4) static_cast<Value*>(values)[at] = slot.value;
                ++at;
            });
        });
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
    using Parts = BatchParts<Key>;
    static constexpr u32 value_width = sizeof(Value) >= 4 ? sizeof(Value) : 0;

    struct PlacedOperations {
        PlacedItems<u8> operations;
        PlacedItems<Value> values;
        NumberKind kind;
    };
    struct PlacedResults {
        PlacedItems<Value> values;
        PlacedItems<u8> found;
    };

    static Value value_at(const PlacedItems<Value>& values, u64 position) {
        if constexpr (sizeof(Value) < 4) {
            return {};
        } else {
            return values.items[position];
        }
    }

    Table& table_of(u64 hash) { return shards_[shard_of(hash)]; }
    // The tables of a part of a batch.
    std::span<Table> tables_of(const Parts& parts, u64 part) {
        const u32 count = parts.tables_of_part();
        return std::span(shards_).subspan(part * count, count);
    }
    static Prefetch prefetch_of(Prefetch wanted, std::span<const Table> tables) {
        return prefetch_for(bytes_of(tables), wanted);
    }
    static u64 bytes_of(std::span<const Table> tables) {
        u64 bytes = 0;
        for (const Table& table : tables) bytes += table.bytes();
        return bytes;
    }

    // Writes the results of searches by a kernel. `bytes`: of all tables.
    void find_by_kernel(SearchKeys* kernel, const KeyRows<Key>& rows, void* values, u8* found, u64 bytes) const {
        constexpr u64 most = 4096;
        u64 words[shard_count];
        u32 unfinished[most + 16];
        for (u32 shard = 0; shard < shard_count; ++shard) words[shard] = shards_[shard].search_word();
        for (u64 at = 0; at < rows.count; at += most) {
            const u64 first = rows.first + at, count = std::min(rows.count - at, most);
            void* const values_of = values == nullptr ? nullptr : static_cast<u8*>(values) + first * value_width;
            const u64 few = kernel(
                {words, rows.keys + first, count, seed_, values_of, found + first, unfinished, bytes <= cached_bytes});
            for (u64 i = 0; i < few; ++i) {
                const u64 row = first + unfinished[i], hash = hash_of(rows.keys[row]);
                const auto* const slot = shards_[shard_of(hash)].find(rows.keys[row], hash);
                found[row] = slot != nullptr;
                if constexpr (sizeof(Value) >= 4) {
                    if (values != nullptr) static_cast<Value*>(values)[row] = slot != nullptr ? slot->value : Value{};
                }
            }
        }
    }

    // Writes the result of each search. `bytes`: of all tables. In large ones the tags of all keys are compared before
    // a slot is read.
    template <bool has_values>
    void find_part(const KeyRows<Key>& rows, void* values, u8* found, u64 bytes) const {
        const Key* const keys = rows.keys;
        const Table* const tables = shards_.data();
        const auto write = [=](u64 row, const auto* slot) {
            found[row] = slot != nullptr;
            if constexpr (has_values) static_cast<Value*>(values)[row] = slot != nullptr ? slot->value : Value{};
        };
        if (bytes <= cached_bytes) {
            const auto table_of = [=](u64 hash) -> const Table& { return tables[shard_of(hash)]; };
            return visit_rows(rows, Prefetch::nothing, table_of,
                              [=](u64 hash, u64 row) { write(row, tables[shard_of(hash)].find(keys[row], hash)); });
        }
        u64 hashes[searches_in_flight];
        typename Table::Candidates candidates[searches_in_flight];
        for (u64 at = 0; at < rows.count; at += searches_in_flight) {
            const u64 few = std::min(searches_in_flight, rows.count - at), first = rows.first + at;
            for (u64 i = 0; i < few; ++i) hashes[i] = placing_hash(keys[first + i], rows.seed);
            for (u64 i = 0; i < few && bytes > cached_with_tags; ++i) {
                tables[shard_of(hashes[i])].prefetch_tags(hashes[i]);
            }
            for (u64 i = 0; i < few; ++i) {
                candidates[i] = tables[shard_of(hashes[i])].candidates_of(hashes[i]);
                candidates[i].prefetch();
            }
            for (u64 i = 0; i < few; ++i) {
                write(first + i, tables[shard_of(hashes[i])].find(keys[first + i], hashes[i], candidates[i]));
            }
        }
    }

    // Calls visit(table, key, position) for rows of a part in order.
    template <class Visit>
    [[gnu::always_inline]] void visit_part(const KeyRows<Key>& part, std::span<const Table> of, Prefetch what,
                                           const Visit& visit) {
        const Key* const keys = part.keys;
        Table* const tables = shards_.data();
        visit_rows(
            part, prefetch_of(what, of), [=](u64 hash) -> Table& { return tables[shard_of(hash)]; },
            [&](u64 hash, u64 position) {
                visit(tables[shard_of(hash)], HashedKey<Key>{keys[position], hash}, position);
            });
    }
    // The same for all parts, in parallel.
    template <class Visit>
    void each_part(const Parts& parts, Prefetch what, const Visit& visit) {
        for_each_piece(parts.number(), parts.threads(), [&](u64 part) {
            const Visit copy = visit;  // its pointers stay in registers
            visit_part(parts[part], tables_of(parts, part), what, copy);
        });
    }

    static u64 size_of(std::span<const Table> tables) {
        u64 sum = 0;
        for (const Table& table : tables) sum += table.size();
        return sum;
    }

    // Returns whether a table may have to grow.
    bool may_grow(const Parts& parts) {
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
        Parts parts(batch.keys, batch.count, seed_, threads);
        const auto values = parts.template placed<Value>(batch.values);
        const bool may_fail = may_grow(parts);
        const UndoLog<Value> log(may_fail ? batch.count : 0);  // empty if no operation can fail
        parts.take(values);
        std::vector<u64> finished(parts.number());
        FirstError error;
        for_each_piece(parts.number(), parts.threads(), [&](u64 part) {
            const KeyRows<Key> rows = parts[part];
            const std::span<Table> tables = tables_of(parts, part);
            const u64 before = size_of(tables), first = may_fail ? rows.count / 8 : 0;
            LoggedPart logged{may_fail ? &log : nullptr, rows.first + rows.count};
            try {
                upsert_part(rows.part(0, first), tables, values, reduce, logged);
                if (first >= tables.size()) {
                    const u64 expected = expected_keys(size_of(tables) - before, first, rows.count);
                    for (Table& table : tables) table.reserve(expected / tables.size());
                }
                upsert_part(rows.part(first, rows.count), tables, values, reduce, logged);
            } catch (const std::bad_alloc&) {
                error.set(std::current_exception());
            }
            finished[part] = logged.position;
        });
        if (!error.is_set()) return;
        for_each_piece(parts.number(), parts.threads(), [&](u64 part) {
            for (u64 i = finished[part]; i-- > parts.begin(part);) undo_one(parts.key_at(i), log, i);
        });
        error.rethrow();
    }

    // A part's operations in the log; null if none can fail.
    struct LoggedPart {
        const UndoLog<Value>* log;
        u64 position;  // of the first operation that has not run, after an error
    };

    template <class Joined>
    void upsert_part(const KeyRows<Key>& rows, std::span<const Table> tables, const PlacedItems<Value>& values,
                     const Joined& reduce, LoggedPart& logged) {
        const auto upsert = [=](Table& table, HashedKey<Key> key, u64 position, const auto& note) {
            const auto [slot, is_added] = table.insert(key.key, key.hash);
            note(position, is_added, slot->value);
            const Value value = value_at(values, position);
            slot->value = is_added ? value : reduce(slot->value, value);
        };
        if (logged.log == nullptr) {
            return visit_part(rows, tables, Prefetch::insertion, [=](Table& table, HashedKey<Key> key, u64 position) {
                upsert(table, key, position, [](u64, bool, const Value&) {});
            });
        }
        bool* const is_new = logged.log->is_new();
        Value* const replaced = logged.log->replaced();
        u64 at = rows.first;
        try {
            visit_part(rows, tables, Prefetch::insertion, [=, &at](Table& table, HashedKey<Key> key, u64 position) {
                at = position;
                upsert(table, key, position, [=](u64 position, bool is_added, const Value& held) {
                    is_new[position] = is_added;
                    replaced[position] = held;
                });
            });
        } catch (const std::bad_alloc&) {
            logged.position = at;
            throw;
        }
    }

    // Runs an operation, and writes the key's value before it. If memory is refused, nothing has changed.
    static void run_operation(Table& table, HashedKey<Key> key, u64 position, const PlacedOperations& batch,
                              const PlacedResults& results) {
        const auto operation = static_cast<MapOperation>(batch.operations.items[position]);
        auto* const slot = table.find(key.key, key.hash);
        const OptionalValue<Value> held{slot == nullptr ? Value{} : slot->value, slot != nullptr};
        const auto next = operate(held, operation, batch.kind, value_at(batch.values, position));
        if (slot != nullptr && next.is_present) {
            slot->value = next.value;
        } else if (slot != nullptr) {
            table.erase_slot(slot, key.hash);
        } else if (next.is_present) {
            table.insert_absent(key.key, key.hash)->value = next.value;
        }
        results.found.items[position] = held.is_present;
        if constexpr (sizeof(Value) >= 4) results.values.items[position] = held.value;
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
        const u64 hash = hash_of(key);
        if (log.is_new()[position]) {
            table_of(hash).erase(key, hash);
        } else {
            table_of(hash).find(key, hash)->value = log.replaced()[position];
        }
    }

    u64 hash_of(Key key) const { return placing_hash(key, seed_); }

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
