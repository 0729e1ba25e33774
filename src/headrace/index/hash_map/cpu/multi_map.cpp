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
        Parts parts(batch.keys, batch.count, seed_, threads, divided_from);
        const auto values = parts.template placed<Value>(batch.values);
        parts.take(values);
        std::vector<u64> inserted(parts.number());
        try {
            each_part(parts, Prefetch::insertion, [&, values](u64 part) {
                return [&, values, part](Shard& in, HashedKey<Key> key, u64 position) {
                    in.insert(key.key, key.hash, values.items[position]);
                    ++inserted[part];
                };
            });
        } catch (...) {
            for_each_piece(parts.number(), parts.threads(), [&](u64 part) {
                for (u64 i = inserted[part]; i-- > 0;) {
                    const u64 position = parts.begin(part) + i;
                    const Key key = parts.key_at(position);
                    const u64 hash = placing_hash(key, seed_);
                    shards_[shard_of(hash)].erase_value(key, hash, values.items[position]);
                }
            });
            throw;
        }
    }

    void erase(const KeyBatch& batch, const void* rule, u8* found, unsigned threads) override {
        const auto& order = *static_cast<const KeyRule<Value>*>(rule);
        each_row(batch, found, threads,
                 [&](Shard& in, HashedKey<Key> key) -> u8 { return in.erase_first(key.key, key.hash, order); });
    }

    void erase_all(const KeyBatch& batch, i64* counts, unsigned threads) override {
        each_row(batch, counts, threads, [](Shard& in, HashedKey<Key> key) { return in.erase_all(key.key, key.hash); });
    }

    void apply(const OperationBatch& batch, const void* rule, const ListResults& results, unsigned threads) override {
        Parts parts(batch.pairs.keys, batch.pairs.count, seed_, threads);
        const ListBatch given{parts.template placed<u8>(batch.operations),
                              parts.template placed<Value>(batch.pairs.values),
                              *static_cast<const KeyRule<Value>*>(rule), parts.template placed<Value>(results.values),
                              parts.template placed<i64>(results.counts)};
        parts.take(given.operations, given.values);
        std::vector<PartLog> logs(parts.number());
        try {
            each_part(parts, Prefetch::insertion, [&](u64 part) {
                return [&, part](Shard& in, HashedKey<Key> key, u64 position) {
                    run_operation(in, key, position, given, logs[part]);
                };
            });
        } catch (...) {
            for_each_piece(parts.number(), parts.threads(), [&](u64 part) { undo_part(parts[part], logs[part]); });
            throw;
        }
        for (const PartLog& log : logs) {
            for (const Erasure& one : log.erasures) {
                shards_[shard_of(placing_hash(parts.key_at(one.position), seed_))].nodes.release(one.list);
            }
        }
        parts.give(given.firsts, given.counts);
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

    void items(void* keys, void* values, unsigned threads) const override {
        const auto size_of_shard = [&](u64 shard) { return shards_[shard].size; };
        each_shard_at(shards_.size(), size_of_shard, threads, [=, this](u64 shard, u64 at) {
            const Shard& in = shards_[shard];
            in.table.each([=, &in, &at](const auto& slot) {
                for (u32 node = slot.value.first; node != no_node; node = in.nodes[node].next, ++at) {
                    static_cast<Key*>(keys)[at] = slot.key;
                    static_cast<Value*>(values)[at] = in.nodes[node].value;
                }
            });
        });
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
    using Parts = BatchParts<Key>;

    // On one thread, larger batches of new pairs take less time part by part: a table and its nodes stay in the cache.
    static constexpr u64 divided_from = 1 << 18;

    // Mixed operations, the order of values, and the results.
    struct ListBatch {
        PlacedItems<u8> operations;
        PlacedItems<Value> values;
        const KeyRule<Value>& order;
        PlacedItems<Value> firsts;
        PlacedItems<i64> counts;
    };
    // A node that an operation of a batch has inserted; no_node if memory was refused.
    struct InsertedNode {
        u32 position;
        u32 node;
    };
    // A list that an operation of a batch has erased, or one node of it. Its nodes are released after the batch, so
    // that all can be put back.
    struct Erasure {
        u64 position;
        ValueList list;
    };
    struct PartLog {
        std::vector<InsertedNode> insertions;
        std::vector<Erasure> erasures;
    };

    // Runs an operation and writes the state before it. If memory is refused, nothing has changed.
    static void run_operation(Shard& in, HashedKey<Key> key, u64 position, const ListBatch& batch, PartLog& log) {
        const auto operation = static_cast<MapOperation>(batch.operations.items[position]);
        auto* const slot = in.table.find(key.key, key.hash);
        const ValueList list = slot == nullptr ? no_values : slot->value;
        batch.firsts.items[position] = Value{};
        batch.counts.items[position] = list.count;
        if (operation == MapOperation::insert) {
            log.insertions.push_back({static_cast<u32>(position), no_node});
            log.insertions.back().node = in.insert(key.key, key.hash, batch.values.items[position]);
        } else if (slot != nullptr && operation == MapOperation::erase_all) {
            log.erasures.push_back({position, list});
            in.take_all(key, list);
        } else if (slot != nullptr && operation != MapOperation::count) {
            const auto [before, node] = in.first_place(slot->value, batch.order);
            batch.firsts.items[position] = in.nodes[node].value;
            if (operation == MapOperation::find) return;
            log.erasures.push_back({position, {node, 1, 1}});
            in.take(key, slot->value, before);
        }
    }

    // Undoes the operations of a part. No memory is allocated. Takes one walk through each list of the batch, since
    // later operations may have sorted it.
    void undo_part(const KeyRows<Key>& rows, PartLog& log) {
        const auto key_at = [&](u64 position) {
            const Key key = rows.keys[position];
            return HashedKey<Key>{key, placing_hash(key, seed_)};
        };
        const auto shard_at = [&](u64 position) -> Shard& { return shards_[shard_of(key_at(position).hash)]; };
        if (!log.insertions.empty() && log.insertions.back().node == no_node) log.insertions.pop_back();
        for (const InsertedNode& one : log.insertions) shard_at(one.position).nodes.mark(one.node);
        for (Erasure& one : log.erasures) one.list = shard_at(one.position).without_marked(one.list);
        for (const InsertedNode& one : log.insertions) {
            Shard& in = shard_at(one.position);
            if (in.nodes.is_marked(one.node)) in.erase_marked(key_at(one.position));
        }
        for (const Erasure& one : log.erasures) {
            if (one.list.count != 0) shard_at(one.position).put_back(key_at(one.position), one.list);
        }
    }

    static Prefetch prefetch_of(Prefetch wanted, std::span<const Shard> shards) {
        u64 bytes = 0;
        for (const Shard& shard : shards) bytes += shard.table.bytes() + shard.nodes.bytes();
        return prefetch_for(bytes, wanted);
    }

    // Calls visit(shard, key, position) for the keys of each part in order, in parallel. `visit_of(part)`: that
    // function.
    template <class VisitOf>
    void each_part(const Parts& parts, Prefetch what, const VisitOf& visit_of) {
        const u32 count = parts.tables_of_part();
        for_each_piece(parts.number(), parts.threads(), [&](u64 part) {
            const KeyRows<Key> rows = parts[part];
            Shard* const shards = shards_.data();
            const auto visit = visit_of(part);
            visit_rows(
                rows, prefetch_of(what, {shards + part * count, count}),
                [=](u64 hash) -> auto& { return shards[shard_of(hash)].table; },
                [&](u64 hash, u64 position) {
                    visit(shards[shard_of(hash)], HashedKey<Key>{rows.keys[position], hash}, position);
                });
        });
    }

    // Writes work(shard, key) for each key of a batch.
    template <class Result, class Work>
    void each_row(const KeyBatch& batch, Result* results, unsigned threads, const Work& work) {
        Parts parts(batch.keys, batch.count, seed_, threads);
        const auto to = parts.template placed<Result>(results);
        parts.take();
        each_part(parts, Prefetch::search, [&](u64) {
            return [=](Shard& in, HashedKey<Key> key, u64 position) { to.items[position] = work(in, key); };
        });
        parts.give(to);
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
        const Prefetch prefetch = prefetch_of(Prefetch::search, shards_);
        for_each_piece(pieces.number(), threads_for(batch.count, threads), [&](u64 piece) {
            const KeyRows<Key> rows{keys, pieces.begin(piece), pieces.size(piece), seed_};
            for (u64 at = 0; at < rows.count; at += searches_in_flight) {
                FoundList found[searches_in_flight];
                const u64 first = rows.first + at, end = std::min(at + searches_in_flight, rows.count);
                visit_rows(
                    rows.part(at, end), prefetch, [=](u64 hash) -> auto& { return shards[shard_of(hash)].table; },
                    [&](u64 hash, u64 row) {
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
