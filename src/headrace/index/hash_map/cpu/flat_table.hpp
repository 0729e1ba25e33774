// The hash table of one shard in host memory: open addressing with linear probing. A deletion moves later pairs back,
// so that no slot is ever marked as deleted (Knuth, The Art of Computer Programming, volume 3, section 6.4).
//
// An empty slot has the key of all ones. The pair of that key is a member of its own, so a user may store any key. At
// most 5 of 8 slots are in use. Bytes moved per search: one cache line, rarely two.
#pragma once
#include <cstring>
#include <memory>
#include <new>

#include "core/cpu/memory.hpp"
#include "index/hash_map/rules/seeded_hash.hpp"

namespace headrace {

// The value of a set's keys.
struct NoValue {};

template <class Key, class Value>
class FlatTable {
public:
    struct FlatSlot {
        Key key;
        [[no_unique_address]] Value value;
    };
    struct Inserted {
        FlatSlot* slot;
        bool is_new;
    };

    FlatTable(std::shared_ptr<Budget> budget, u64 seed) : budget_(std::move(budget)), seed_(seed) {}
    FlatTable(FlatTable&&) noexcept = default;
    FlatTable& operator=(FlatTable&&) noexcept = default;

    u64 size() const { return used_ + has_escaped_; }
    u64 bytes() const { return capacity_ * sizeof(FlatSlot); }
    u64 capacity() const { return capacity_; }
    bool has_space_for(u64 more) const { return used_ + more <= limit_of(capacity_); }

    Key hash_of(Key key) const { return seeded_hash(key, seed_); }

    // Returns a table with the same pairs.
    FlatTable copy() const {
        FlatTable result(budget_, seed_);
        result.region_ = new_region(capacity_);
        if (capacity_ != 0) std::memcpy(result.region_.data(), region_.data(), capacity_ * sizeof(FlatSlot));
        result.capacity_ = capacity_;
        result.used_ = used_;
        result.has_escaped_ = has_escaped_;
        result.escaped_ = escaped_;
        return result;
    }

    void prefetch(Key hash) const {
        if (capacity_ != 0) __builtin_prefetch(slots() + (hash & mask()));
    }

    // Returns the slot of a key, or null. `hash`: hash_of(key).
    FlatSlot* find(Key key, Key hash) {
        if (key == empty) return has_escaped_ ? &escaped_ : nullptr;
        if (capacity_ == 0) return nullptr;
        FlatSlot* const slot = slots() + probe(key, hash);
        return slot->key == empty ? nullptr : slot;
    }
    const FlatSlot* find(Key key, Key hash) const { return const_cast<FlatTable*>(this)->find(key, hash); }

    // Returns the slot of a key, which is added without a value if it is absent. If the table cannot grow, nothing has
    // changed.
    Inserted insert(Key key, Key hash) {
        if (key == empty) {
            const bool is_new = !has_escaped_;
            has_escaped_ = true;
            return {&escaped_, is_new};
        }
        FlatSlot* slot = nullptr;
        if (capacity_ != 0) {
            slot = slots() + probe(key, hash);
            if (slot->key != empty) return {slot, false};
        }
        if (!has_space_for(1)) {
            resize(capacity_ == 0 ? smallest : 2 * capacity_);
            slot = slots() + probe(key, hash);
        }
        slot->key = key;
        ++used_;
        return {slot, true};
    }

    // Grows for that many keys more, if the memory is there. A limit is not used up for keys that may not come.
    void reserve(u64 more) {
        if (budget_->is_limited() || has_space_for(more)) return;
        try {
            resize(capacity_for(used_ + more));
        } catch (const std::bad_alloc&) {  // insertions grow the table as they need it
        }
    }

    // Returns whether the key was present.
    bool erase(Key key, Key hash) {
        if (key == empty) return std::exchange(has_escaped_, false);
        if (capacity_ == 0) return false;
        u64 hole = probe(key, hash);
        if (slots()[hole].key == empty) return false;
        for (u64 next = (hole + 1) & mask(); slots()[next].key != empty; next = (next + 1) & mask()) {
            const u64 home = hash_of(slots()[next].key) & mask();
            if (((next - home) & mask()) < ((next - hole) & mask())) continue;  // it would come before its first slot
            slots()[hole] = slots()[next];
            hole = next;
        }
        slots()[hole].key = empty;
        --used_;
        return true;
    }

    // Calls visit(slot) for each pair, in the order of the slots.
    template <class Visit>
    void each(const Visit& visit) const {
        if (has_escaped_) visit(escaped_);
        for (u64 at = 0; at < capacity_; ++at) {
            if (slots()[at].key != empty) visit(slots()[at]);
        }
    }

    void clear() {
        region_ = Region();
        capacity_ = used_ = 0;
        has_escaped_ = false;
    }

    // Reduces the slots to those that the keys need.
    void compact() {
        const u64 needed = used_ == 0 ? 0 : capacity_for(used_);
        if (needed < capacity_) resize(needed);
    }

private:
    static constexpr Key empty = static_cast<Key>(~Key{0});
    static constexpr u64 smallest = 8;

    static u64 limit_of(u64 capacity) { return capacity / 8 * 5; }
    static u64 capacity_for(u64 keys) {
        u64 capacity = smallest;
        while (limit_of(capacity) < keys) capacity *= 2;
        return capacity;
    }
    FlatSlot* slots() const { return region_.template as<FlatSlot>(); }
    u64 mask() const { return capacity_ - 1; }

    // Returns the key's slot, or the empty slot at which the search for it ends.
    u64 probe(Key key, Key hash) const {
        u64 at = hash & mask();
        while (slots()[at].key != key && slots()[at].key != empty) at = (at + 1) & mask();
        return at;
    }

    Region new_region(u64 capacity) const {
        if (capacity == 0) return Region();
        const usize bytes = capacity * sizeof(FlatSlot);
        require_group_memory(bytes);
        Region region(bytes, budget_);
        region.ensure(bytes);
        return region;
    }

    void resize(u64 capacity) {
        Region region = new_region(capacity);
        if (capacity != 0) std::memset(region.data(), 0xFF, capacity * sizeof(FlatSlot));
        FlatSlot* const to = region.template as<FlatSlot>();
        for (u64 from = 0; from < capacity_; ++from) {
            const FlatSlot& slot = slots()[from];
            if (slot.key == empty) continue;
            u64 at = hash_of(slot.key) & (capacity - 1);
            while (to[at].key != empty) at = (at + 1) & (capacity - 1);
            to[at] = slot;
        }
        region_ = std::move(region);
        capacity_ = capacity;
    }

    std::shared_ptr<Budget> budget_;
    u64 seed_;
    Region region_;
    u64 capacity_ = 0;
    u64 used_ = 0;
    bool has_escaped_ = false;
    FlatSlot escaped_{empty, {}};
};

}  // namespace headrace
