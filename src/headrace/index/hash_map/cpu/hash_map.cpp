#include "arrange/gather/widths.hpp"
#include "core/operators.hpp"
#include "index/hash_map/cpu/flat_table.hpp"
#include "index/hash_map/cpu/hash_map_host.hpp"
#include "index/hash_map/cpu/key_block.hpp"
#include "index/hash_map/cpu/map_search.hpp"
#include "index/hash_map/cpu/map_upsert.hpp"
#include "index/hash_map/cpu/reductions.hpp"
#include "index/hash_map/cpu/undo_log.hpp"

namespace headrace {

HR_FOR_EACH_ISA(SearchKeys*(const SearchKind& kind), search_kernel)

namespace {

template <class Key, class Value>
class ShardedMap final : public HostHashMap {
public:
    using Table = FlatTable<Key, Value>;

    ShardedMap(const std::shared_ptr<Budget>& budget, u64 seed) : budget_(budget), seed_(seed) {
        shards_.emplace_back(budget, seed, shard_count - 1);  // at most 2/3 full: few keys pass a group
    }
    // A copy.
    explicit ShardedMap(const ShardedMap& other) : budget_(other.budget_), seed_(other.seed_) {
        for (const Table& table : other.shards_) shards_.push_back(table.copy());
    }

    std::unique_ptr<HostHashMap> copy() const override { return std::make_unique<ShardedMap>(*this); }

    void upsert(const PairBatch& batch, const Upsert& how, const BatchResources& resources) override {
        if constexpr (sizeof(Value) >= 4) {
            if (how.reduce == Reduce::sum && how.kind != NumberKind::floating) {
                return upsert_by(batch, WrappedSum<Value>{}, resources);
            }
            if (how.reduce != Reduce::last) return upsert_by(batch, reduction_of<Value>(how), resources);
        }
        upsert_by(batch, TakeLast<Value>{}, resources);
    }

    void replace(const PairBatch& batch, u8* found, const BatchResources& resources) override {
        Parts parts = parts_of({batch.keys, batch.count}, resources.threads);
        const auto values = parts.template placed<Value>(batch.values);
        const auto marks = parts.template placed<u8>(found);
        parts.take(values);
        const auto one = [=](Table& table, HashedKey<Key> key, u64 position) {
            Slot* const slot = table.find(key.key, key.hash);
            if (slot != nullptr) slot->value = value_at(values, position);
            marks.items[position] = slot != nullptr;
        };
        const auto store = [=, this](const Blocks& blocks, const KeyRows<Key>& rows, Prefetch prefetch) {
            for (u64 i = 0; i < rows.count; ++i) {
                blocks.template address<Slot>(i)->value = value_at(values, rows.first + i);
            }
            const u32* const numbers = blocks.others().data();
            visit_tables(rows, blocks.others().size(), [=](u64 i) { return numbers[i]; }, prefetch, tables(), one);
        };
        each_block(parts, {kernel_of(resources.isa, SearchResult::slot), marks.items, 0}, store, one);
        parts.give(marks);
    }

    void erase(const KeyBatch& batch, u8* found, const BatchResources& resources) override {
        Parts parts = parts_of({batch.keys, batch.count}, resources.threads);
        const auto marks = parts.template placed<u8>(found);
        parts.take();
        const auto one = [=](Table& table, HashedKey<Key> key, u64 position) {
            marks.items[position] = table.erase(key.key, key.hash);
        };
        const auto erase_all = [=, this](const Blocks& blocks, const KeyRows<Key>& rows, Prefetch) {
            erase_block(rows, blocks, marks.items + rows.first);
        };
        each_block(parts, {kernel_of(resources.isa, SearchResult::tag), marks.items, TagGroup::empty}, erase_all, one);
        parts.give(marks);
    }

    void find(const KeyBatch& batch, void* values, u8* found, const BatchResources& resources) const override {
        const Pieces pieces(batch.count, 64);  // a search reads a cache line or two
        const MapSearch<Key, Value> search(shards_);
        SearchKeys* const kernel = kernel_of(resources.isa, SearchResult::value);
        for_each_piece(pieces.number(), threads_for(batch.count, resources.threads), [&](u64 piece) {
            const KeyRows<Key> rows{static_cast<const Key*>(batch.keys), pieces.begin(piece), pieces.size(piece),
                                    seed_};
            if (kernel != nullptr && rows.count >= searched_by_kernel_from) {
                return search.by_kernel(kernel, rows, values, found);
            }
            if constexpr (sizeof(Value) >= 4) {
                if (values != nullptr) return search.template one_by_one<true>(rows, values, found);
            }
            search.template one_by_one<false>(rows, values, found);
        });
    }

    void apply(const OperationBatch& batch, const OperationResults& results, unsigned threads) override {
        Parts parts = parts_of({batch.pairs.keys, batch.pairs.count}, threads);
        const PlacedOperations given{parts.template placed<u8>(batch.operations),
                                     parts.template placed<Value>(batch.pairs.values), batch.kind};
        const PlacedResults to{parts.template placed<Value>(results.values), parts.template placed<u8>(results.found)};
        parts.take(given.operations, given.values);
        std::vector<u64> finished(parts.number());
        FirstError error;
        for_each_piece(parts.number(), parts.threads(), [&](u64 part) {
            try {
                visit_all(parts[part], prefetch_for(part_of(parts, part).bytes(), Prefetch::insertion),
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
                    write_state(tables()(hash), {key, hash},
                                {value_at(to.values, position), to.found.items[position] != 0});
                }
            });
            error.rethrow();
        }
        parts.give(to.values, to.found);
    }

    void items(void* keys, void* values, unsigned threads) const override {
        const auto size_of_shard = [&](u64 shard) { return shards_[shard].size(); };
        each_shard_at(shards_.size(), size_of_shard, threads, [=, this](u64 shard, u64 at) {
            shards_[shard].each([=, &at](const auto& slot) {
                static_cast<Key*>(keys)[at] = slot.key;
                if constexpr (sizeof(Value) >= 4) static_cast<Value*>(values)[at] = slot.value;
                ++at;
            });
        });
    }

    void clear() override {
        shards_.erase(shards_.begin() + 1, shards_.end());
        shards_[0].clear();
    }

    void compact(unsigned threads) override {
        for_each_piece(shards_.size(), threads_for(statistics().size, threads),
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
    using Blocks = KeyBlocks<Key, Table>;
    using Slot = typename Table::FlatSlot;
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

    static SearchKeys* kernel_of(Isa isa, SearchResult result) {
        return search_kernel_for(isa)({sizeof(Key), value_width, result});
    }

    // Returns the parts of a batch that changes the map. A map with half of parallel_from keys gets a table of each
    // shard. So does a smaller one if several threads may run the batch.
    Parts parts_of(const KeyBatch& batch, unsigned threads) {
        if (shards_.size() == 1 && std::max(batch.count, 2 * shards_[0].size()) >= parallel_from &&
            shards_[0].bytes() != refused_bytes_)
            distribute();
        return Parts(batch.keys, batch.count, seed_, shards_.size() == 1 ? 1 : threads);
    }
    // Moves the pairs of a map's only table to those of their shards, unless memory is refused.
    void distribute() {
        try {
            std::vector<Table> tables;
            for (u32 shard = 0; shard < shard_count; ++shard) {
                tables.emplace_back(budget_, seed_, shard);
                tables[shard].reserve(shards_[0].size() / shard_count);
            }
            shards_[0].each([&, this](const Slot& slot) {
                const u64 hash = hash_of(slot.key);
                tables[shard_of(hash)].insert_absent(slot.key, hash)->value = slot.value;
            });
            shards_.swap(tables);
        } catch (const std::bad_alloc&) {  // the map stays as it is
            refused_bytes_ = shards_[0].bytes();
        }
    }

    ShardTables<Table> tables() { return ShardTables<Table>(shards_); }
    PartTables<Table> part_of(const Parts& parts, u64 part) {
        const u64 shards = shard_count / parts.number(), count = std::min<u64>(shards, shards_.size());
        return {std::span(shards_).subspan(part * count, count), part * shards, shards};
    }

    // Calls visit(table, key, position) for rows in order.
    template <class Visit>
    [[gnu::always_inline]] void visit_all(const KeyRows<Key>& rows, Prefetch prefetch, const Visit& visit) {
        visit_tables(rows, rows.count, [](u64 i) { return i; }, prefetch, tables(), visit);
    }
    struct BlockSearch {
        SearchKeys* kernel;
        u8* found;     // flags by position
        u8 elsewhere;  // bytes at the address of keys that are not found
    };
    // Searches for blocks of each part, and calls each(blocks, rows, prefetch). Without a kernel, calls
    // one(table, key, position) for each key. Parts run in parallel.
    template <class Each, class One>
    void each_block(const Parts& parts, const BlockSearch& search, const Each& each, const One& one) {
        for_each_piece(parts.number(), parts.threads(), [&](u64 part) {
            const KeyRows<Key> rows = parts[part];
            const One copy = one;  // its pointers stay in registers
            Blocks blocks(search.kernel, rows, part_of(parts, part), false);
            const Prefetch prefetch = blocks.prefetch(Prefetch::search);
            if (!blocks.has_kernel()) return visit_all(rows, prefetch, copy);
            alignas(Slot) u8 nowhere[sizeof(Slot)];
            std::fill_n(nowhere, sizeof(Slot), search.elsewhere);
            for (u64 at = 0; at < rows.count; at += block_rows) {
                const KeyRows<Key> few = rows.part(at, std::min(at + block_rows, rows.count));
                blocks.search(at, at + few.count, search.found + few.first, nowhere);
                each(blocks, few, prefetch);
            }
        });
    }
    // Returns whether a table may have to grow.
    bool may_grow(const Parts& parts) {
        for (u32 part = 0; part < parts.number(); ++part) {
            for (const Table& table : part_of(parts, part).tables) {
                if (!table.has_space_for(parts[part].count)) return true;
            }
        }
        return false;
    }

    template <class Joined>
    void upsert_by(const PairBatch& batch, const Joined& reduce, const BatchResources& resources) {
        Parts parts = parts_of({batch.keys, batch.count}, resources.threads);
        const auto values = parts.template placed<Value>(batch.values);
        const UndoLog<Value> log(may_grow(parts) ? batch.count : 0);
        const UpsertBatch<Value, Joined> how{values, reduce, log, kernel_of(resources.isa, SearchResult::slot)};
        parts.take(values);
        std::vector<u64> finished(parts.number());
        FirstError error;
        for_each_piece(parts.number(), parts.threads(), [&](u64 part) {
            MapUpsert<Key, Value, Joined> upsert(tables(), part_of(parts, part), parts[part], how);
            try {
                upsert.run();
            } catch (const std::bad_alloc&) {
                error.set(std::current_exception());
            }
            finished[part] = upsert.finished();
        });
        if (!error.is_set()) return;
        for_each_piece(parts.number(), parts.threads(), [&](u64 part) {
            for (u64 i = finished[part]; i-- > parts.begin(part);) undo_one(parts.key_at(i), log, i);
        });
        error.rethrow();
    }

    // Erases the keys of a block in their order. The searches of the next block have begun, so one of two rows with a
    // key may be found alone. The other one is searched for now.
    void erase_block(const KeyRows<Key>& rows, const Blocks& blocks, u8* found) {
        const ShardTables<Table> table_of = tables();
        const Key* const keys = rows.keys + rows.first;
        const u64 seed = rows.seed;
        const bool has_found = std::memchr(found, 1, rows.count) != nullptr;
        u64 at = 0;
        for (const u32 other : blocks.others()) {
            if (has_found) erase_found(rows, blocks, at, other, found);
            const u64 hash = placing_hash(keys[other], seed);
            found[other] = table_of(hash).erase(keys[other], hash);
            at = other + 1;
        }
        if (has_found) erase_found(rows, blocks, at, rows.count, found);
    }
    // Erases keys that have a tag. Of equal ones, later ones are marked as absent.
    [[gnu::always_inline]] void erase_found(const KeyRows<Key>& rows, const Blocks& blocks, u64 begin, u64 end,
                                            u8* found) {
        const ShardTables<Table> table_of = tables();
        const Key* const keys = rows.keys + rows.first;
        const u64 *const addresses = blocks.addresses(), seed = rows.seed;
        for (u64 i = begin; i < end; ++i) {
            if (i % 8 == 0 && i + 8 <= end && load_word(found + i) == 0) {
                i += 7;
                continue;
            }
            Table& table = table_of(placing_hash(keys[i], seed));
            found[i] = table.erase_tag(reinterpret_cast<u8*>(addresses[i]));
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
        const Change change = log.changes()[position];
        if (change == Change::added) {
            tables()(hash).erase(key, hash);
        } else {
            tables()(hash).find(key, hash)->value = log.replaced()[position];
        }
    }

    u64 hash_of(Key key) const { return placing_hash(key, seed_); }

    std::shared_ptr<Budget> budget_;
    u64 seed_;
    std::vector<Table> shards_;  // one table for all while the map is small
    // Bytes of the only table when memory for others was refused. With as many, no call tries again: it would move most
    // pairs for nothing.
    u64 refused_bytes_ = ~u64{0};
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
