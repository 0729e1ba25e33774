#include <algorithm>
#include <span>

#include "arrange/gather/widths.hpp"
#include "index/hash_map/cpu/hash_map_host.hpp"
#include "index/hash_map/cpu/sharded_rows.hpp"
#include "index/hash_map/cpu/value_lists.hpp"

namespace headrace {
namespace {

template <class Key, class Value>
class ShardedMultiMap final : public HostMultiMap {
public:
    ShardedMultiMap(std::shared_ptr<Budget> budget, u64 seed) : budget_(std::move(budget)), seed_(seed) { clear(); }
    // A copy.
    explicit ShardedMultiMap(const ShardedMultiMap& other) : budget_(other.budget_), seed_(other.seed_) {
        for (const Shard& shard : other.shards_) shards_.push_back(shard.copy());
    }

    std::unique_ptr<HostMultiMap> copy() const override { return std::make_unique<ShardedMultiMap>(*this); }

    void insert(const PairBatch& batch, unsigned threads) override {
        threads = threads_for(batch.count, threads);
        const Key* const keys = static_cast<const Key*>(batch.keys);
        const BatchParts parts = batch_parts(keys, batch.count, seed_, threads);
        std::vector<u64> inserted(parts.number());
        try {
            for_each_piece(parts.number(), threads, [&](u64 part) {
                visit_part({keys, parts[part], seed_}, Prefetch::insertion, [&](Shard& in, Key hash, u64 row) {
                    in.insert(keys[row], hash, static_cast<const Value*>(batch.values)[row]);
                    ++inserted[part];
                });
            });
        } catch (...) {
            for_each_piece(parts.number(), threads, [&](u64 part) {
                for (u64 i = inserted[part]; i-- > 0;) {
                    const Key key = keys[parts[part][i]], hash = seeded_hash(key, seed_);
                    const u64 row = parts[part][i];
                    shards_[shard_of(hash)].erase_value(key, hash, static_cast<const Value*>(batch.values)[row]);
                }
            });
            throw;
        }
    }

    void erase(const KeyBatch& batch, const void* rule, u8* found, unsigned threads) override {
        const auto& order = *static_cast<const KeyRule<Value>*>(rule);
        const Key* const keys = static_cast<const Key*>(batch.keys);
        each_row(batch, threads,
                 [&](Shard& in, Key hash, u64 row) { found[row] = in.erase_first(keys[row], hash, order); });
    }

    void erase_all(const KeyBatch& batch, i64* counts, unsigned threads) override {
        const Key* const keys = static_cast<const Key*>(batch.keys);
        each_row(batch, threads, [&](Shard& in, Key hash, u64 row) { counts[row] = in.erase_all(keys[row], hash); });
    }

    void apply(const OperationBatch& batch, const void* rule, const ListResults& results, unsigned threads) override {
        const Key* const keys = static_cast<const Key*>(batch.pairs.keys);
        const ListBatch given{batch, *static_cast<const KeyRule<Value>*>(rule), results};
        threads = threads_for(batch.pairs.count, threads);
        const BatchParts parts = batch_parts(keys, batch.pairs.count, seed_, threads);
        std::vector<PartLog> logs(parts.number());
        try {
            for_each_piece(parts.number(), threads, [&](u64 part) {
                visit_part({keys, parts[part], seed_}, Prefetch::insertion, [&](Shard& in, Key hash, u64 row) {
                    run_operation(in, {keys[row], hash}, row, given, logs[part].erasures);
                    ++logs[part].finished;
                });
            });
        } catch (...) {
            for_each_piece(parts.number(), threads, [&](u64 part) { undo_part(batch, parts[part], logs[part]); });
            throw;
        }
        for (const PartLog& log : logs) {
            for (const Erasure& one : log.erasures) {
                shards_[shard_of(seeded_hash(keys[one.row], seed_))].nodes.release(one.list);
            }
        }
    }

    void count(const KeyBatch& batch, i64* counts, unsigned threads) const override {
        each_group(batch, threads, [&](std::span<const FoundList> found, u64 first) {
            for (u64 i = 0; i < found.size(); ++i) counts[first + i] = found[i].list.count;
        });
    }

    void find_all(const KeyBatch& batch, const void* rule, const i64* offsets, void* values,
                  unsigned threads) const override {
        const auto& order = *static_cast<const KeyRule<Value>*>(rule);
        each_group(batch, threads, [&](std::span<const FoundList> found, u64 first) {
            copy_values(found, offsets + first, static_cast<Value*>(values));
            for (u64 i = first; i < first + found.size(); ++i) {
                std::sort(static_cast<Value*>(values) + offsets[i], static_cast<Value*>(values) + offsets[i + 1],
                          [&](Value a, Value b) { return order.code(a) < order.code(b); });
            }
        });
    }

    void items(void* keys, void* values) const override {
        u64 at = 0;
        for (const Shard& in : shards_) {
            in.table.each([&](const auto& slot) {
                for (u32 node = slot.value.first; node != no_node; node = in.nodes[node].next, ++at) {
                    static_cast<Key*>(keys)[at] = slot.key;
                    static_cast<Value*>(values)[at] = in.nodes[node].value;
                }
            });
        }
    }

    void clear() override {
        shards_.clear();
        for (u32 shard = 0; shard < shard_count; ++shard) shards_.emplace_back(budget_, seed_, shard);
    }

    void compact(unsigned threads) override {
        for_each_piece(shard_count, threads_for(statistics().size, threads), [&](u64 shard) {
            Shard compacted(budget_, seed_, static_cast<u32>(shard));
            const Shard& in = shards_[shard];
            in.table.each([&](const auto& slot) {
                for (u32 node = slot.value.first; node != no_node; node = in.nodes[node].next) {
                    compacted.insert(slot.key, in.table.hash_of(slot.key), in.nodes[node].value);
                }
            });
            shards_[shard] = std::move(compacted);
        });
    }

    TableStatistics statistics() const override {
        TableStatistics sums{};
        for (const Shard& in : shards_) {
            sums.size += in.size;
            sums.capacity += in.nodes.capacity();
            sums.bytes += in.table.bytes() + in.nodes.bytes();
        }
        return sums;
    }

    u64 key_count() const override {
        u64 sum = 0;
        for (const Shard& in : shards_) sum += in.table.size();
        return sum;
    }

private:
    using Shard = ListShard<Key, Value>;

    // Mixed operations, the order of values, and the results.
    struct ListBatch {
        const OperationBatch& operations;
        const KeyRule<Value>& order;
        const ListResults& results;
    };
    // A list that an operation of a batch has erased, or one node of it. Its nodes are released after the batch, so
    // that all can be put back.
    struct Erasure {
        u64 row;
        ValueList list;
    };
    struct PartLog {
        u64 finished = 0;  // operations
        std::vector<Erasure> erasures;
    };

    // Runs an operation and writes the state before it. If memory is refused, nothing has changed.
    static void run_operation(Shard& in, HashedKey<Key> key, u64 row, const ListBatch& batch,
                              std::vector<Erasure>& erasures) {
        const auto operation = static_cast<MapOperation>(batch.operations.operations[row]);
        auto* const slot = in.table.find(key.key, key.hash);
        const ValueList list = slot == nullptr ? no_values : slot->value;
        static_cast<Value*>(batch.results.values)[row] = Value{};
        batch.results.counts[row] = list.count;
        if (operation == MapOperation::insert) {
            in.insert(key.key, key.hash, static_cast<const Value*>(batch.operations.pairs.values)[row]);
        } else if (slot != nullptr && operation == MapOperation::erase_all) {
            erasures.push_back({row, list});
            in.take_all(key, list);
        } else if (slot != nullptr && operation != MapOperation::count) {
            const auto [before, node] = in.first_place(slot->value, batch.order);
            static_cast<Value*>(batch.results.values)[row] = in.nodes[node].value;
            if (operation == MapOperation::find) return;
            erasures.push_back({row, {node, 1, 1}});
            in.take(key, slot->value, before);
        }
    }

    // Undoes the operations of a part that have finished, the last one first. No memory is allocated.
    void undo_part(const OperationBatch& batch, RowList rows, PartLog& log) {
        while (log.finished > 0) {
            const u64 row = rows[--log.finished];
            const Key key = static_cast<const Key*>(batch.pairs.keys)[row], hash = seeded_hash(key, seed_);
            Shard& in = shards_[shard_of(hash)];
            if (static_cast<MapOperation>(batch.operations[row]) == MapOperation::insert) {
                in.erase_value(key, hash, static_cast<const Value*>(batch.pairs.values)[row]);
            } else if (!log.erasures.empty() && log.erasures.back().row == row) {
                in.put_back({key, hash}, log.erasures.back().list);
                log.erasures.pop_back();
            }
        }
    }

    // Other threads change the tables of other parts, which have about as many bytes.
    Prefetch prefetch_of(Prefetch wanted, const KeyRows<Key>& part) const {
        const u64 bytes =
            part.has_all_tables() ? statistics().bytes : shard_count * shards_[part.table()].table.bytes();
        return prefetch_for(bytes, wanted);
    }

    // Calls visit(shard, hash, row) for rows of a part in order.
    template <class Visit>
    void visit_part(const KeyRows<Key>& part, Prefetch what, const Visit& visit) {
        if (part.rows.count == 0) return;
        Shard* const shards = shards_.data();
        visit_rows(
            part, prefetch_of(what, part), [=](Key hash) -> auto& { return shards[shard_of(hash)].table; },
            [&](Key hash, u64 row) { visit(shards[shard_of(hash)], hash, row); });
    }

    template <class Visit>
    void each_row(const KeyBatch& batch, unsigned threads, const Visit& visit) {
        threads = threads_for(batch.count, threads);
        const Key* const keys = static_cast<const Key*>(batch.keys);
        const BatchParts parts = batch_parts(keys, batch.count, seed_, threads);
        for_each_piece(parts.number(), threads,
                       [&](u64 part) { visit_part({keys, parts[part], seed_}, Prefetch::search, visit); });
    }

    // The list of a key, empty for an absent one, and its shard.
    struct FoundList {
        const Shard* in;
        ValueList list;
    };

    // Calls visit(lists, first) for each group of up to 16 keys, from key `first` on.
    template <class Visit>
    void each_group(const KeyBatch& batch, unsigned threads, const Visit& visit) const {
        const Key* const keys = static_cast<const Key*>(batch.keys);
        const Shard* const shards = shards_.data();
        const Pieces pieces(batch.count, 64);
        for_each_piece(pieces.number(), threads_for(batch.count, threads), [&](u64 piece) {
            const RowList rows{nullptr, pieces.begin(piece), pieces.size(piece)};
            const Prefetch prefetch = prefetch_of(Prefetch::search, {keys, rows, seed_});
            for (u64 at = 0; at < rows.count; at += searches_in_flight) {
                FoundList found[searches_in_flight];
                const u64 first = rows[at], end = std::min(at + searches_in_flight, rows.count);
                visit_rows(
                    KeyRows<Key>{keys, rows.part(at, end), seed_}, prefetch,
                    [=](Key hash) -> auto& { return shards[shard_of(hash)].table; },
                    [&](Key hash, u64 row) {
                        const Shard& in = shards[shard_of(hash)];
                        const auto* const slot = in.table.find(keys[row], hash);
                        found[row - first] = {&in, slot == nullptr ? no_values : slot->value};
                    });
                visit(std::span<const FoundList>(found, end - at), first);
            }
        });
    }

    // Copies the values of list i from offsets[i] on, one of each list in turn, so that their cache misses overlap.
    static void copy_values(std::span<const FoundList> found, const i64* offsets, Value* values) {
        u64 lists[searches_in_flight], count = 0;  // those that have values left
        u32 nodes[searches_in_flight];
        for (u64 i = 0; i < found.size(); ++i) {
            nodes[i] = found[i].list.first;
            if (nodes[i] == no_node) continue;
            __builtin_prefetch(&found[i].in->nodes[nodes[i]]);
            lists[count++] = i;
        }
        for (u64 step = 0; count > 0; ++step) {
            for (u64 at = 0; at < count;) {
                const u64 i = lists[at];
                const auto& node = found[i].in->nodes[nodes[i]];
                values[static_cast<u64>(offsets[i]) + step] = node.value;
                nodes[i] = node.next;
                if (node.next == no_node) {
                    lists[at] = lists[--count];
                } else {
                    __builtin_prefetch(&found[i].in->nodes[node.next]);
                    ++at;
                }
            }
        }
    }

    std::shared_ptr<Budget> budget_;
    u64 seed_;
    std::vector<Shard> shards_;
};

}  // namespace

std::unique_ptr<HostMultiMap> new_multi_map(const PairWidths& widths, const std::shared_ptr<Budget>& budget, u64 seed) {
    return with_width<u32, u64>(widths.key, [&]<class Key>(Key) {
        return with_width<u32, u64>(widths.value, [&]<class Value>(Value) -> std::unique_ptr<HostMultiMap> {
            return std::make_unique<ShardedMultiMap<Key, Value>>(budget, seed);
        });
    });
}

}  // namespace headrace
