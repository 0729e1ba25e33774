// The lists of values of a multimap's keys in host memory: a table of the keys, and nodes in an array that grows.
#pragma once
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "arrange/sort/sort_key.hpp"
#include "index/hash_map/cpu/flat_table.hpp"

namespace headrace {

constexpr u32 no_node = ~0u;

// The values of a key: a list of nodes.
struct ValueList {
    u32 first;
    u32 count : 31;
    u32 is_sorted : 1;  // whether the values are known to ascend
};
constexpr ValueList no_values{no_node, 0, 1};
constexpr u32 scanned_values = 16;  // maximum length of a list that a search for its first value leaves as it is

// Nodes of the lists of a shard. Freed nodes form a list, too. The first capacity depends on the shard, so that the
// pools of a map double one after another.
template <class Value>
class NodePool {
public:
    struct Node {
        Value value;
        u32 next;
    };

    NodePool(std::shared_ptr<Budget> budget, u32 shard) : budget_(std::move(budget)), shard_(shard) {}
    NodePool(NodePool&&) noexcept = default;
    NodePool& operator=(NodePool&&) noexcept = default;

    Node& operator[](u32 node) { return region_.template as<Node>()[node]; }
    const Node& operator[](u32 node) const { return region_.template as<Node>()[node]; }
    u64 bytes() const { return capacity_ * sizeof(Node); }
    u64 capacity() const { return capacity_; }

    NodePool copy() const {
        NodePool result(budget_, shard_);
        if (capacity_ != 0) result.resize(capacity_);
        if (used_ != 0) std::memcpy(result.region_.data(), region_.data(), used_ * sizeof(Node));
        result.used_ = used_;
        result.free_ = free_;
        return result;
    }

    // Makes sure that `allocate` succeeds once.
    void reserve_one() {
        if (free_ != no_node || used_ < capacity_) return;
        if (capacity_ > no_node / 4) throw std::length_error("a shard of the map has more than 2^30 values");
        resize(capacity_ == 0 ? 8 + shard_ / 8 : 2 * capacity_);
    }
    u32 allocate() {
        if (free_ == no_node) return used_++;
        return std::exchange(free_, (*this)[free_].next);
    }
    // Marks a node in a list, or removes its mark, by the highest bit of the next node's number, of which there are
    // fewer than 2^31 - 1.
    void mark(u32 node) { (*this)[node].next ^= mark_bit; }
    bool is_marked(u32 node) const { return (*this)[node].next + 1 >= mark_bit; }
    void release(u32 node) { (*this)[node].next = std::exchange(free_, node); }
    void release(ValueList list) {
        for (u32 node = list.first; list.count > 0; --list.count) release(std::exchange(node, (*this)[node].next));
    }

private:
    static constexpr u32 mark_bit = 1u << 31;

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
    u32 shard_;
    u64 capacity_ = 0;
    u32 used_ = 0;
    u32 free_ = no_node;
};

// A shard of a multimap: the list of each key.
template <class Key, class Value>
struct ListShard {
    FlatTable<Key, ValueList> table;
    NodePool<Value> nodes;
    u64 size = 0;

    ListShard(const std::shared_ptr<Budget>& budget, u64 seed, u32 shard)
        : table(budget, seed, shard), nodes(budget, shard) {}
    ListShard(FlatTable<Key, ValueList> keys, NodePool<Value> values, u64 count)
        : table(std::move(keys)), nodes(std::move(values)), size(count) {}

    ListShard copy() const { return {table.copy(), nodes.copy(), size}; }

    // Returns the new node.
    u32 insert(Key key, u64 hash, Value value) {
        nodes.reserve_one();
        const auto insertion = table.insert(key, hash);
        ValueList& list = insertion.slot->value;
        if (insertion.is_new) list = no_values;
        const u32 node = nodes.allocate();
        nodes[node] = {value, list.first};
        list.is_sorted = list.count == 0;
        list.first = node;
        ++list.count;
        ++size;
        return node;
    }

    // The position of a node in its list.
    struct Place {
        u32 before;  // no_node for the first one
        u32 node;
    };

    // Returns the place of the value that is first in an order. The list has one or more. A long list is sorted, so
    // that many searches take no quadratic time.
    Place first_place(ValueList& list, const KeyRule<Value>& order) {
        if (list.count > scanned_values && list.is_sorted == 0) list = {sorted(list.first, order), list.count, 1};
        Place first{no_node, list.first};
        if (list.is_sorted != 0) return first;
        for (u32 before = list.first, node; (node = nodes[before].next) != no_node; before = node) {
            if (is_before(node, first.node, order)) first = {before, node};
        }
        return first;
    }

    // Takes the node after `before`, or the first one, out of a list, and returns it. Its memory is in use.
    u32 take(HashedKey<Key> key, ValueList& list, u32 before) {
        u32& link = link_after(list, before);
        const u32 node = std::exchange(link, nodes[link].next);
        nodes[node].next = no_node;
        --size;
        if (--list.count == 0) table.erase(key.key, key.hash);
        return node;
    }
    // Takes the list of a key out of the table. Its memory is in use.
    void take_all(HashedKey<Key> key, ValueList list) {
        size -= list.count;
        table.erase(key.key, key.hash);
    }
    // Undoes `take` or `take_all`. The table has had the key before, so no memory is allocated.
    void put_back(HashedKey<Key> key, ValueList part) {
        const auto insertion = table.insert(key.key, key.hash);
        ValueList& list = insertion.slot->value;
        size += part.count;
        if (!insertion.is_new) {
            u32 last = part.first;
            while (nodes[last].next != no_node) last = nodes[last].next;
            nodes[last].next = list.first;
            part = {part.first, part.count + list.count, 0};
        }
        list = part;
    }

    // Releases the marked nodes of a list, and returns the rest.
    ValueList without_marked(ValueList list) {
        u32* link = &list.first;
        while (*link != no_node) {
            const u32 node = *link;
            if (nodes.is_marked(node)) {
                nodes.mark(node);
                *link = nodes[node].next;
                nodes.release(node);
                --list.count;
            } else {
                link = &nodes[node].next;
            }
        }
        return list;
    }
    // Erases the values of a key whose nodes are marked.
    void erase_marked(HashedKey<Key> key) {
        ValueList& list = table.find(key.key, key.hash)->value;
        size -= list.count;
        list = without_marked(list);
        size += list.count;
        if (list.count == 0) table.erase(key.key, key.hash);
    }

    // Erases a value that the key has.
    void erase_value(Key key, u64 hash, Value value) {
        ValueList& list = table.find(key, hash)->value;
        u32 before = no_node;
        for (u32 node = list.first; nodes[node].value != value; node = nodes[node].next) before = node;
        nodes.release(take({key, hash}, list, before));
    }

    bool erase_first(Key key, u64 hash, const KeyRule<Value>& order) {
        auto* const slot = table.find(key, hash);
        if (slot == nullptr) return false;
        nodes.release(take({key, hash}, slot->value, first_place(slot->value, order).before));
        return true;
    }

    i64 erase_all(Key key, u64 hash) {
        auto* const slot = table.find(key, hash);
        if (slot == nullptr) return 0;
        const ValueList list = slot->value;
        take_all({key, hash}, list);
        nodes.release(list);
        return list.count;
    }

private:
    bool is_before(u32 one, u32 other, const KeyRule<Value>& order) const {
        return order.code(nodes[one].value) < order.code(nodes[other].value);
    }
    // Sorts a list by merges of runs that ascend already: bin i is empty, or has 2^i of them. Returns the first node.
    u32 sorted(u32 node, const KeyRule<Value>& order) {
        u32 bins[32];
        std::fill_n(bins, 32, no_node);
        while (node != no_node) {
            u32 run = node, last = node, bin = 0;
            while (nodes[last].next != no_node && !is_before(nodes[last].next, last, order)) last = nodes[last].next;
            node = std::exchange(nodes[last].next, no_node);
            while (bins[bin] != no_node) run = merged(std::exchange(bins[bin++], no_node), run, order);
            bins[bin] = run;
        }
        u32 all = no_node;
        for (const u32 run : bins) all = merged(run, all, order);
        return all;
    }
    u32 merged(u32 first, u32 second, const KeyRule<Value>& order) {
        u32 all = no_node, *end = &all;
        while (first != no_node && second != no_node) {
            u32& next = is_before(second, first, order) ? second : first;
            *end = next;
            end = &nodes[next].next;
            next = *end;
        }
        *end = first != no_node ? first : second;
        return all;
    }
    u32& link_after(ValueList& list, u32 before) { return before == no_node ? list.first : nodes[before].next; }
};

}  // namespace headrace
