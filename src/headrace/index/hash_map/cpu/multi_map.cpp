#include <stdexcept>

#include "index/hash_map/cpu/flat_table.hpp"
#include "index/hash_map/cpu/hash_map_host.hpp"
#include "index/hash_map/cpu/sharded_rows.hpp"

namespace headrace {
namespace {

constexpr u32 no_node = ~0u;

// The values of a key: a list of nodes.
struct ValueList {
    u32 first;
    u32 count;
};

// Nodes of the lists of a shard. Freed nodes form a list, too.
template <class Value>
class NodePool {
public:
    struct Node {
        Value value;
        u32 next;
    };

    explicit NodePool(std::shared_ptr<Budget> budget) : budget_(std::move(budget)) {}
    NodePool(NodePool&&) noexcept = default;
    NodePool& operator=(NodePool&&) noexcept = default;

    Node& operator[](u32 node) { return region_.template as<Node>()[node]; }
    const Node& operator[](u32 node) const { return region_.template as<Node>()[node]; }
    u64 bytes() const { return capacity_ * sizeof(Node); }
    u64 capacity() const { return capacity_; }

    NodePool copy() const {
        NodePool result(budget_);
        if (capacity_ != 0) result.resize(capacity_);
        if (used_ != 0) std::memcpy(result.region_.data(), region_.data(), used_ * sizeof(Node));
        result.used_ = used_;
        result.free_ = free_;
        return result;
    }

    // Makes sure that `allocate` succeeds once.
    void reserve_one() {
        if (free_ != no_node || used_ < capacity_) return;
        if (capacity_ > no_node / 2) throw std::length_error("a shard of the map has more than 2147483648 values");
        resize(capacity_ == 0 ? 8 : 2 * capacity_);
    }
    u32 allocate() {
        if (free_ == no_node) return used_++;
        return std::exchange(free_, (*this)[free_].next);
    }
    void release(u32 node) { (*this)[node].next = std::exchange(free_, node); }

private:
    void resize(u64 capacity) {
        const usize bytes = capacity * sizeof(Node);
        require_group_memory(bytes);
        Region region(bytes, budget_);
        region.ensure(bytes);
        if (used_ != 0) std::memcpy(region.data(), region_.data(), used_ * sizeof(Node));
        region_ = std::move(region);
        capacity_ = capacity;
    }

    std::shared_ptr<Budget> budget_;
    Region region_;
    u64 capacity_ = 0;
    u32 used_ = 0;
    u32 free_ = no_node;
};

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
                    shards_[shard_of(hash)].erase_newest(key, hash);
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

    void count(const KeyBatch& batch, i64* counts, unsigned threads) const override {
        each_list(batch, threads, [&](const Shard&, ValueList list, u64 row) { counts[row] = list.count; });
    }

    void find_all(const KeyBatch& batch, const void* rule, const i64* offsets, void* values,
                  unsigned threads) const override {
        const auto& order = *static_cast<const KeyRule<Value>*>(rule);
        each_list(batch, threads, [&](const Shard& in, ValueList list, u64 row) {
            Value* const begin = static_cast<Value*>(values) + offsets[row];
            Value* end = begin;
            for (u32 node = list.first; node != no_node; node = in.nodes[node].next) *end++ = in.nodes[node].value;
            std::sort(begin, end, [&](Value a, Value b) { return order.code(a) < order.code(b); });
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
        for (u32 shard = 0; shard < shard_count; ++shard) shards_.emplace_back(budget_, seed_);
    }

    void compact(unsigned threads) override {
        for_each_piece(shard_count, threads_for(statistics().size, threads), [&](u64 shard) {
            Shard compacted(budget_, seed_);
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
    struct Shard {
        FlatTable<Key, ValueList> table;
        NodePool<Value> nodes;
        u64 size = 0;

        Shard(const std::shared_ptr<Budget>& budget, u64 seed) : table(budget, seed), nodes(budget) {}
        Shard(FlatTable<Key, ValueList> keys, NodePool<Value> values, u64 count)
            : table(std::move(keys)), nodes(std::move(values)), size(count) {}

        Shard copy() const { return {table.copy(), nodes.copy(), size}; }

        void insert(Key key, Key hash, Value value) {
            nodes.reserve_one();
            const auto insertion = table.insert(key, hash);
            ValueList& list = insertion.slot->value;
            if (insertion.is_new) list = {no_node, 0};
            const u32 node = nodes.allocate();
            nodes[node] = {value, list.first};
            list = {node, list.count + 1};
            ++size;
        }

        // Removes the node after `before`, or the first one.
        void remove(HashedKey<Key> key, ValueList& list, u32 before) {
            const u32 node = before == no_node ? list.first : nodes[before].next;
            (before == no_node ? list.first : nodes[before].next) = nodes[node].next;
            nodes.release(node);
            --size;
            if (--list.count == 0) table.erase(key.key, key.hash);
        }

        void erase_newest(Key key, Key hash) { remove({key, hash}, table.find(key, hash)->value, no_node); }

        bool erase_first(Key key, Key hash, const KeyRule<Value>& order) {
            auto* const slot = table.find(key, hash);
            if (slot == nullptr) return false;
            u32 before = no_node, before_first = no_node, first = slot->value.first;
            for (u32 node = first; node != no_node; before = node, node = nodes[node].next) {
                if (order.code(nodes[node].value) < order.code(nodes[first].value)) {
                    first = node;
                    before_first = before;
                }
            }
            remove({key, hash}, slot->value, before_first);
            return true;
        }

        i64 erase_all(Key key, Key hash) {
            auto* const slot = table.find(key, hash);
            if (slot == nullptr) return 0;
            const i64 count = slot->value.count;
            for (u32 node = slot->value.first, next; node != no_node; node = next) {
                next = nodes[node].next;
                nodes.release(node);
            }
            size -= static_cast<u64>(count);
            table.erase(key, hash);
            return count;
        }
    };

    // Other threads change the tables of other parts, which have about as many bytes.
    Prefetch prefetch_of(Prefetch wanted, const KeyRows<Key>& part) const {
        const u64 bytes = part.has_one_table() ? shard_count * shards_[part.table()].table.bytes() : statistics().bytes;
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

    // Calls visit(shard, list, row) for each key, with an empty list for an absent one.
    template <class Visit>
    void each_list(const KeyBatch& batch, unsigned threads, const Visit& visit_list) const {
        const Key* const keys = static_cast<const Key*>(batch.keys);
        const Shard* const shards = shards_.data();
        const Pieces pieces(batch.count, 64);
        for_each_piece(pieces.number(), threads_for(batch.count, threads), [&](u64 piece) {
            const RowList rows{nullptr, pieces.begin(piece), pieces.size(piece)};
            const KeyRows<Key> part{keys, rows, seed_};
            visit_rows(
                part, prefetch_of(Prefetch::search, part),
                [=](Key hash) -> auto& { return shards[shard_of(hash)].table; },
                [&](Key hash, u64 row) {
                    const Shard& in = shards[shard_of(hash)];
                    const auto* const slot = in.table.find(keys[row], hash);
                    visit_list(in, slot == nullptr ? ValueList{no_node, 0} : slot->value, row);
                });
        });
    }

    std::shared_ptr<Budget> budget_;
    u64 seed_;
    std::vector<Shard> shards_;
};

template <class Key>
std::unique_ptr<HostMultiMap> multi_map_of(u32 value_width, const std::shared_ptr<Budget>& budget, u64 seed) {
    if (value_width == 4) return std::make_unique<ShardedMultiMap<Key, u32>>(budget, seed);
    if (value_width == 8) return std::make_unique<ShardedMultiMap<Key, u64>>(budget, seed);
    throw std::invalid_argument("no such width of values");
}

}  // namespace

std::unique_ptr<HostMultiMap> new_multi_map(const PairWidths& widths, const std::shared_ptr<Budget>& budget, u64 seed) {
    if (widths.key == 4) return multi_map_of<u32>(widths.value, budget, seed);
    if (widths.key == 8) return multi_map_of<u64>(widths.value, budget, seed);
    throw std::invalid_argument("no such width of keys");
}

}  // namespace headrace
