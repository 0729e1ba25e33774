// The hash table of one shard in host memory: open addressing by groups of 15 slots (tag_group.hpp). A search compares
// the tags of a group and, for each equal tag, a key. It goes on to the next group only if keys have passed this one. A
// deletion takes the key off the counts of the groups that it has passed, so that no slot is marked as deleted.
//
// A table doubles when 66 to 87 of 100 slots are in use, by the number of its shard. So the tables of a map double one
// after another. Bytes moved per search: a cache line of tags, and one of slots for a present key.
//
// In a table that is 7/8 full, a random key passes 16 full groups with a probability of 0.01, and 256 with about
// 10^-16. If an insertion passes more, keys were chosen to share a group. Then the table places all keys by a hash with
// a secret. So no keys take quadratic time.
#pragma once
#include <cstring>
#include <memory>
#include <new>

#include "core/cpu/memory.hpp"
#include "core/cpu/random_seed.hpp"
#include "index/hash_map/cpu/tag_group.hpp"
#include "index/hash_map/rules/seeded_hash.hpp"

namespace headrace {

// The value of a set's keys.
struct NoValue {};

template <class Key>
struct HashedKey {
    Key key, hash;
};

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

    // `shard`: number of the shard, 0 to 63.
    FlatTable(std::shared_ptr<Budget> budget, u64 seed, u32 shard)
        : seed_(seed), shard_(shard), budget_(std::move(budget)) {}
    FlatTable(FlatTable&& other) noexcept : FlatTable(other.budget_, other.seed_, other.shard_) { swap(other); }
    FlatTable& operator=(FlatTable&& other) noexcept {
        swap(other);
        return *this;
    }

    u64 size() const { return used_; }
    u64 bytes() const { return bytes_of(group_count()); }
    u64 capacity() const { return group_count() * TagGroup::slot_count; }
    bool has_space_for(u64 more) const { return used_ + more <= limit_of(group_count()); }

    Key hash_of(Key key) const { return seeded_hash(key, seed_); }

    // Returns a table with the same pairs.
    FlatTable copy() const {
        FlatTable result(budget_, seed_, shard_);
        if (group_count() == 0) return result;
        result.allocate(group_count());
        std::memcpy(result.region_.data(), region_.data(), bytes());
        result.used_ = used_;
        result.secret_ = secret_;
        return result;
    }

    // Fetch the tags of a key's first group, and then the slot that a search reads or an insertion writes. Inlined: GCC
    // removes calls of functions that only prefetch.
    [[gnu::always_inline]] void prefetch_tags(Key hash) const { __builtin_prefetch(groups_ + (placing(hash) & mask_)); }
    [[gnu::always_inline]] void prefetch_slot(Key hash, bool is_insertion) const {
        hash = placing(hash);
        const u64 at = hash & mask_;
        TagGroup::Slots found = groups_[at].equal(tag_of(hash));
        if (is_insertion) found = found != 0 ? found : groups_[at].equal(TagGroup::empty);
        const void* const place = first_slot(at) + TagGroup::first(found | TagGroup::past_slots);
        __builtin_prefetch(found != 0 ? place : groups_ + at);
    }

    // Returns the slot of a key, or null. `hash`: hash_of(key).
    [[gnu::always_inline]] FlatSlot* find(Key key, Key hash) {
        hash = placing(hash);
        const u64 at = hash & mask_;
        FlatSlot* const slot = find_in(at, key, tag_of(hash));
        return slot != nullptr || groups_[at].passed == 0 ? slot : find_further(key, hash);
    }
    [[gnu::always_inline]] const FlatSlot* find(Key key, Key hash) const {
        return const_cast<FlatTable*>(this)->find(key, hash);
    }

    // Returns the slot of a key, which is added without a value if it is absent. If the table cannot grow, nothing has
    // changed.
    [[gnu::always_inline]] Inserted insert(Key key, Key hash) {
        FlatSlot* const slot = find(key, hash);
        if (slot != nullptr) return {slot, false};
        return {insert_absent(key, hash), true};
    }
    // Adds a key that is absent, without a value.
    [[gnu::always_inline]] FlatSlot* insert_absent(Key key, Key hash) {
        if (!has_space_for(1)) grow();
        ++used_;
        const Added added = add(key, placing(hash));
        if (added.passed_groups <= max_passed_groups || secret_ != 0 || !hide_places()) return added.slot;
        return find(key, hash);
    }

    // Grows for that many keys more, if the memory is there. A limit is not used up for keys that may not come.
    void reserve(u64 more) {
        if (budget_->is_limited() || has_space_for(more)) return;
        try {
            resize(groups_for(used_ + more));
        } catch (const std::bad_alloc&) {  // insertions grow the table as they need it
        }
    }

    // Returns whether the key was present.
    bool erase(Key key, Key hash) {
        const FlatSlot* const slot = find(key, hash);
        if (slot == nullptr) return false;
        erase_slot(slot, hash);
        return true;
    }
    // Erases the key of a slot.
    void erase_slot(const FlatSlot* slot, Key hash) {
        const u64 place = static_cast<u64>(slot - slots_), group = place / TagGroup::slot_count;
        for (u64 at = placing(hash) & mask_; at != group; at = (at + 1) & mask_) groups_[at].discount_passed();
        groups_[group].tags[place % TagGroup::slot_count] = TagGroup::empty;
        --used_;
    }

    // Calls visit(slot) for each pair, in the order of the slots.
    template <class Visit>
    void each(const Visit& visit) const {
        const u64 count = group_count();
        for (u64 at = 0; at < count; ++at) {
            for (TagGroup::Slots used = groups_[at].used(); used != 0; used &= used - 1) {
                visit(first_slot(at)[TagGroup::first(used)]);
            }
        }
    }

    void clear() {
        region_ = Region();
        groups_ = &no_group;
        slots_ = nullptr;
        mask_ = used_ = secret_ = 0;
    }

    // Reduces the slots to those that the keys need.
    void compact() {
        if (used_ == 0) return clear();
        const u64 needed = groups_for(used_);
        if (needed < group_count()) resize(needed);
    }

private:
    static constexpr u64 max_passed_groups = 256;
    struct Added {
        FlatSlot* slot;
        u64 passed_groups;
    };

    // The group of a table without memory, which is read only.
    static inline TagGroup no_group{};

    // Maximum number of keys: 7 of 8 slots for shard 0, and down to three quarters of that for later shards.
    u64 limit_of(u64 groups) const { return groups * TagGroup::slot_count * (256 - shard_) / 256 * 7 / 8; }
    static u64 bytes_of(u64 groups) { return groups * (sizeof(TagGroup) + TagGroup::slot_count * sizeof(FlatSlot)); }
    u64 groups_for(u64 keys) const {
        u64 groups = 1;
        while (limit_of(groups) < keys) groups *= 2;
        return groups;
    }
    // Returns the hash that selects the group and the tag of a key.
    Key placing(Key hash) const { return secret_ == 0 ? hash : seeded_hash(hash, secret_); }
    // The bits below those of the shard.
    static u8 tag_of(Key hash) {
        const u32 bits = static_cast<u32>(hash >> (8 * sizeof(Key) - 14)) & 0xFF;
        return static_cast<u8>(bits + (bits == TagGroup::empty));
    }
    u64 group_count() const { return groups_ == &no_group ? 0 : mask_ + 1; }
    FlatSlot* first_slot(u64 group) const { return slots_ + group * TagGroup::slot_count; }

    // Returns the slot of a key in a group, or null.
    [[gnu::always_inline]] FlatSlot* find_in(u64 group, Key key, u8 tag) const {
        for (TagGroup::Slots found = groups_[group].equal(tag); found != 0; found &= found - 1) {
            FlatSlot* const slot = first_slot(group) + TagGroup::first(found);
            if (slot->key == key) return slot;
        }
        return nullptr;
    }

    // Returns the slot of a key that is not in its first group, or null. `hash`: placing(hash_of(key)), here and below.
    [[gnu::noinline]] FlatSlot* find_further(Key key, Key hash) const {
        for (u64 further = 1; further <= mask_; ++further) {
            const u64 at = (hash + further) & mask_;
            FlatSlot* const slot = find_in(at, key, tag_of(hash));
            if (slot != nullptr || groups_[at].passed == 0) return slot;
        }
        return nullptr;
    }

    // Takes the first empty slot for a key that is absent.
    [[gnu::always_inline]] Added add(Key key, Key hash) {
        u64 at = hash & mask_, passed_groups = 0;
        TagGroup::Slots empty = groups_[at].equal(TagGroup::empty);
        while (empty == 0) {
            groups_[at].count_passed();
            at = (at + 1) & mask_;
            ++passed_groups;
            empty = groups_[at].equal(TagGroup::empty);
        }
        const u32 place = TagGroup::first(empty);
        groups_[at].tags[place] = tag_of(hash);
        FlatSlot* const slot = first_slot(at) + place;
        slot->key = key;
        return {slot, passed_groups};
    }

    void allocate(u64 groups) {
        const usize bytes = bytes_of(groups);
        require_group_memory(bytes);
        Region region(bytes, budget_);
        region.ensure(bytes);
        region.request_huge_pages();
        region_ = std::move(region);
        groups_ = region_.template as<TagGroup>();
        slots_ = reinterpret_cast<FlatSlot*>(groups_ + groups);
        mask_ = groups - 1;
    }

    // Makes space for a key. If memory is refused, the table takes as many keys as that of shard 0.
    [[gnu::noinline]] void grow() {
        try {
            resize(group_count() == 0 ? 1 : 2 * group_count());
        } catch (const std::bad_alloc&) {
            const u32 shard = std::exchange(shard_, 0);
            if (has_space_for(1)) return;
            shard_ = shard;
            throw;
        }
    }

    // Places all keys by a secret. Returns false, and changes nothing, if memory or random numbers are refused.
    [[gnu::noinline]] bool hide_places() {
        try {
            secret_ = random_seed() | 1;
            resize(group_count());
            return true;
        } catch (const std::exception&) {
            secret_ = 0;
            return false;
        }
    }

    void resize(u64 groups) {
        FlatTable resized(budget_, seed_, shard_);
        resized.secret_ = secret_;
        resized.allocate(groups);
        std::memset(resized.groups_, 0, groups * sizeof(TagGroup));
        each([&](const FlatSlot& slot) {
            resized.add(slot.key, resized.placing(hash_of(slot.key))).slot->value = slot.value;
        });
        resized.used_ = used_;
        swap(resized);
    }

    void swap(FlatTable& other) noexcept {
        std::swap(groups_, other.groups_);
        std::swap(slots_, other.slots_);
        std::swap(mask_, other.mask_);
        std::swap(used_, other.used_);
        std::swap(secret_, other.secret_);
        std::swap(seed_, other.seed_);
        std::swap(shard_, other.shard_);
        std::swap(budget_, other.budget_);
        std::swap(region_, other.region_);
    }

    TagGroup* groups_ = &no_group;
    FlatSlot* slots_ = nullptr;  // 15 a group
    u64 mask_ = 0;               // number of groups - 1
    u64 secret_ = 0;             // 0 for none
    u64 used_ = 0;
    u64 seed_;
    u32 shard_;
    std::shared_ptr<Budget> budget_;
    Region region_;
};

}  // namespace headrace
