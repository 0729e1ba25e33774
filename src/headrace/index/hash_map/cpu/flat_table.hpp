// The hash table of one shard in host memory: open addressing by groups of 15 slots (tag_group.hpp). A search compares
// the tags of a group and, for each equal tag, a key. It goes on to the next group only if keys have passed this one. A
// deletion takes the key off the counts of the groups that it has passed, so that no slot is marked as deleted.
//
// A table doubles when 66 to 87 of 100 slots are in use, by the number of its shard. So the tables of a map double one
// after another. Bytes moved per search: a cache line of tags, and one of slots for a present key.
// The hash is that of core/hash.hpp by one product, as Boost's. A search of a present key takes about 50 instructions.
//
// In a table that is 7/8 full, a random key passes 16 full groups with a probability of 0.01, and 256 with about
// 10^-16. If an insertion passes more, keys were chosen to share a group. Then the table places all keys by a hash with
// a secret. So no keys take quadratic time.
#pragma once
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "core/cpu/memory.hpp"
#include "core/cpu/random_seed.hpp"
#include "index/hash_map/cpu/placing_hash.hpp"
#include "index/hash_map/cpu/tag_group.hpp"

namespace headrace {

// The value of a set's keys.
struct NoValue {};

template <class Key>
struct HashedKey {
    Key key;
    u64 hash;
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
        : rest_(std::make_unique<Rest>(seed, shard, std::move(budget))) {}

    u64 size() const { return used_; }
    u64 bytes() const { return bytes_of(group_count()); }
    u64 capacity() const { return group_count() * TagGroup::slot_count; }
    bool has_space_for(u64 more) const { return used_ + more <= limit_ || used_ + more <= limit_of(group_count()); }

    u64 hash_of(Key key) const { return placing_hash(key, rest_->seed); }

    // Returns a table with the same pairs.
    FlatTable copy() const {
        FlatTable result(rest_->budget, rest_->seed, rest_->shard);
        if (group_count() == 0) return result;
        result.rest_->secret = rest_->secret;
        result.use(result.region_of(group_count()), group_count());
        std::memcpy(result.groups_, groups_, bytes());
        result.used_ = used_;
        return result;
    }

    // The address of the groups, at a multiple of 64, and in its low bits the logarithm of their number. The slots
    // follow the groups.
    u64 search_word() const {
        return reinterpret_cast<u64>(sought_) | static_cast<u64>(trailing_zeros(sought_mask_ + 1));
    }

    // Fetch the tags of a key's first group, and then the slot that a search reads or an insertion writes. Inlined: GCC
    // removes calls of functions that only prefetch.
    [[gnu::always_inline]] void prefetch_tags(u64 hash) const { __builtin_prefetch(sought_ + (hash & sought_mask_)); }
    [[gnu::always_inline]] void prefetch_slot(u64 hash, bool is_insertion) const {
        Candidates among = candidates_of(hash);
        if (is_insertion && among.found == 0) among.found = among.group->unused();
        among.prefetch();
    }

    // The slots of a key's first group that may have it.
    struct Candidates {
        TagGroup* group;
        FlatSlot* slots;
        TagGroup::Slots found;

        [[gnu::always_inline]] void prefetch() const {
            const void* const place = slots + TagGroup::first(found | TagGroup::past_slots);
            __builtin_prefetch(found != 0 ? place : group);
        }
        // Returns the slot of a key, or null.
        [[gnu::always_inline]] FlatSlot* slot_of(Key key) const {
            for (TagGroup::Slots left = found; left != 0; left &= left - 1) {
                FlatSlot* const slot = slots + TagGroup::first(left);
                if (slot->key == key) return slot;
            }
            return nullptr;
        }
    };
    [[gnu::always_inline]] Candidates candidates_of(u64 hash) const {
        const u64 at = hash & sought_mask_;
        TagGroup* const group = sought_ + at;
        return {group, first_slot(at), group->equal(tag_of(hash))};
    }
    // Returns the slot of a key among its candidates or in later groups, or null.
    [[gnu::always_inline]] FlatSlot* find(Key key, u64 hash, const Candidates& among) const {
        FlatSlot* const slot = among.slot_of(key);
        return slot != nullptr || among.group->passed == 0 ? slot : find_further(key, hash);
    }

    // Returns the slot of a key, or null. `hash`: hash_of(key).
    [[gnu::always_inline]] FlatSlot* find(Key key, u64 hash) { return find(key, hash, candidates_of(hash)); }
    [[gnu::always_inline]] const FlatSlot* find(Key key, u64 hash) const {
        return const_cast<FlatTable*>(this)->find(key, hash);
    }

    // Returns the slot of a key, which is added without a value if it is absent. If the table cannot grow, nothing has
    // changed.
    [[gnu::always_inline]] Inserted insert(Key key, u64 hash) {
        const Candidates among = candidates_of(hash);
        FlatSlot* const slot = find(key, hash, among);
        if (slot != nullptr) return {slot, false};
        return {insert_absent(key, hash, among), true};
    }
    // Adds a key that is absent, without a value.
    FlatSlot* insert_absent(Key key, u64 hash) { return insert_absent(key, hash, candidates_of(hash)); }
    [[gnu::always_inline]] FlatSlot* insert_absent(Key key, u64 hash, const Candidates& among) {
        const TagGroup::Slots empty = among.group->unused();
        if (used_ >= limit_ || empty == 0) return insert_further(key, hash);
        ++used_;
        return take(among.group, among.slots, empty, key, hash);
    }

    // Grows for that many keys more, if the memory is there. A limit is not used up for keys that may not come.
    void reserve(u64 more) {
        if (rest_->budget->is_limited() || has_space_for(more)) return;
        try {
            resize(groups_for(used_ + more));
        } catch (const std::bad_alloc&) {  // insertions grow the table as they need it
        }
    }

    // Returns whether the key was present.
    [[gnu::always_inline]] bool erase(Key key, u64 hash) {
        const Candidates among = candidates_of(hash);
        const FlatSlot* const slot = among.slot_of(key);
        if (slot == nullptr) return among.group->passed != 0 && erase_further(key, hash);
        among.group->tags[slot - among.slots] = 0;
        --used_;
        return true;
    }
    // Erases the key of a tag, unless the tag is 0. Returns whether it was not.
    bool erase_tag(u8* tag) {
        const bool was_present = *tag != TagGroup::empty;
        *tag = TagGroup::empty;
        used_ -= was_present;
        return was_present;
    }
    // Erases the key of a slot.
    void erase_slot(const FlatSlot* slot, u64 hash) {
        const u64 place = static_cast<u64>(slot - slots_), group = place / TagGroup::slot_count;
        for (u64 at = placing(hash) & mask_; at != group; at = (at + 1) & mask_) groups_[at].discount_passed();
        groups_[group].tags[place % TagGroup::slot_count] = 0;
        --used_;
    }

    // Calls visit(slot) for each pair, in the order of the slots.
    template <class Visit>
    void each(const Visit& visit) const {
        each_of({groups_, group_count()}, slots_, visit);
    }

    void clear() { *this = FlatTable(rest_->budget, rest_->seed, rest_->shard); }

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

    // The members that a search of most keys does not read.
    struct Rest {
        u64 seed;
        u32 shard;
        std::shared_ptr<Budget> budget;
        u64 secret = 0;  // 0 for none
        Region region{};
    };

    // The group of a table without memory, and the group that sends searches of a table with a secret to all others.
    // Both are read only.
    alignas(64) static inline TagGroup no_group{};
    alignas(64) static inline TagGroup hidden_group{{}, TagGroup::max_passed};

    // Maximum number of keys: 7 of 8 slots for shard 0, and down to three quarters of that for later shards.
    u64 limit_of(u64 groups) const { return groups * TagGroup::slot_count * (256 - rest_->shard) / 256 * 7 / 8; }
    static u64 bytes_of(u64 groups) { return groups * (sizeof(TagGroup) + TagGroup::slot_count * sizeof(FlatSlot)); }
    u64 groups_for(u64 keys) const {
        u64 groups = 1;
        while (limit_of(groups) < keys) groups *= 2;
        return groups;
    }
    // Returns the hash that selects the group and the tag of a key.
    u64 placing(u64 hash) const { return rest_->secret == 0 ? hash : placing_hash(hash, rest_->secret); }
    // The bits below those of the shard.
    static const TagGroup::Tag& tag_of(u64 hash) { return TagGroup::tag_of(static_cast<u8>(hash >> 50)); }
    u64 group_count() const { return groups_ == &no_group ? 0 : mask_ + 1; }
    FlatSlot* first_slot(u64 group) const { return slots_ + group * TagGroup::slot_count; }

    // Returns the slot of a key that is not in its first group, or null.
    [[gnu::noinline]] FlatSlot* find_further(Key key, u64 hash) const {
        hash = placing(hash);
        for (u64 further = rest_->secret == 0 ? 1 : 0; further <= mask_; ++further) {
            const u64 at = (hash + further) & mask_;
            FlatSlot* const slot =
                Candidates{groups_ + at, first_slot(at), groups_[at].equal(tag_of(hash))}.slot_of(key);
            if (slot != nullptr || groups_[at].passed == 0) return slot;
        }
        return nullptr;
    }

    // Stores a key in the first empty slot of a group.
    [[gnu::always_inline]] static FlatSlot* take(TagGroup* group, FlatSlot* slots, TagGroup::Slots empty, Key key,
                                                 u64 hash) {
        const u32 place = TagGroup::first(empty);
        group->tags[place] = tag_of(hash).bytes[0];
        slots[place].key = key;
        return slots + place;
    }

    // Adds a key that is absent, in any table.
    [[gnu::noinline]] FlatSlot* insert_further(Key key, u64 hash) {
        if (!has_space_for(1)) grow();
        ++used_;
        const Added added = add(key, placing(hash));
        if (added.passed_groups <= max_passed_groups || rest_->secret != 0 || !hide_places()) return added.slot;
        return find(key, hash);
    }

    // Erases a key that is not in its first group. Returns whether it was present.
    [[gnu::noinline]] bool erase_further(Key key, u64 hash) {
        const FlatSlot* const slot = find_further(key, hash);
        if (slot == nullptr) return false;
        erase_slot(slot, hash);
        return true;
    }

    // Takes the first empty slot for a key that is absent. `hash`: placing(hash_of(key)).
    [[gnu::always_inline]] Added add(Key key, u64 hash) {
        u64 at = hash & mask_, passed_groups = 0;
        TagGroup::Slots empty = groups_[at].unused();
        while (empty == 0) {
            groups_[at].count_passed();
            at = (at + 1) & mask_;
            ++passed_groups;
            empty = groups_[at].unused();
        }
        return {take(groups_ + at, first_slot(at), empty, key, hash), passed_groups};
    }

    template <class Visit>
    static void each_of(std::span<const TagGroup> groups, const FlatSlot* slots, const Visit& visit) {
        for (const TagGroup& group : groups) {
            for (TagGroup::Slots used = group.used(); used != 0; used &= used - 1) visit(slots[TagGroup::first(used)]);
            slots += TagGroup::slot_count;
        }
    }

    Region region_of(u64 groups) const {
        const usize bytes = bytes_of(groups);
        require_group_memory(bytes);
        Region region(bytes, rest_->budget);
        region.ensure(bytes);
        region.request_huge_pages();
        return region;
    }
    // Takes other memory, whose contents stay, and returns the old one.
    Region use(Region region, u64 groups) {
        Region old = std::exchange(rest_->region, std::move(region));
        groups_ = rest_->region.template as<TagGroup>();
        slots_ = reinterpret_cast<FlatSlot*>(groups_ + groups);
        mask_ = groups - 1;
        if (rest_->secret == 0) {
            sought_ = groups_;
            sought_mask_ = mask_;
            limit_ = limit_of(groups);
        } else {
            sought_ = &hidden_group;
            sought_mask_ = limit_ = 0;
        }
        return old;
    }

    // Makes space for a key. If memory is refused, the table takes as many keys as that of shard 0.
    [[gnu::noinline]] void grow() {
        try {
            resize(group_count() == 0 ? 1 : 2 * group_count());
        } catch (const std::bad_alloc&) {
            const u32 shard = std::exchange(rest_->shard, 0);
            if (has_space_for(1)) return;
            rest_->shard = shard;
            throw;
        }
    }

    // Places all keys by a secret. Returns false, and changes nothing, if memory or random numbers are refused.
    [[gnu::noinline]] bool hide_places() {
        try {
            resize(group_count(), random_seed() | 1);
            return true;
        } catch (const std::exception&) {
            return false;
        }
    }

    void resize(u64 groups) { resize(groups, rest_->secret); }
    void resize(u64 groups, u64 secret) {
        const std::span<const TagGroup> old_groups(groups_, group_count());
        const FlatSlot* const old_slots = slots_;
        Region region = region_of(groups);  // from here on, nothing fails
        const bool is_hidden_anew = std::exchange(rest_->secret, secret) != secret;
        const Region old = use(std::move(region), groups);
        std::memset(groups_, 0, groups * sizeof(TagGroup));
        if (groups == 2 * old_groups.size() && !is_hidden_anew) return split(old_groups, old_slots);
        each_of(old_groups, old_slots, [&](const FlatSlot& slot) { add_pair(slot); });
    }
    void add_pair(const FlatSlot& slot) { add(slot.key, placing(hash_of(slot.key))).slot->value = slot.value; }

    // Moves the pairs of a table with half as many groups. Those of a group have space in two groups, which are filled
    // in order. Then pairs that are in a later group than their first one are added.
    void split(std::span<const TagGroup> groups, const FlatSlot* slots) {
        const u64 count = groups.size();
        const auto each_slot = [=, this](u64 at, const auto& visit) {
            for (TagGroup::Slots used = groups[at].used(); used != 0; used &= used - 1) {
                const u32 place = TagGroup::first(used);
                const FlatSlot& slot = slots[at * TagGroup::slot_count + place];
                visit(slot, placing(hash_of(slot.key)), groups[at].tags[place]);
            }
        };
        for (u64 at = 0; at < count; ++at) {
            u64 next[2] = {at * TagGroup::slot_count, (at + count) * TagGroup::slot_count};
            u8* tags[2] = {groups_[at].tags, groups_[at + count].tags};
            each_slot(at, [&](const FlatSlot& slot, u64 hash, u8 tag) {
                const u64 half = (hash & count) != 0;
                if ((hash & (count - 1)) != at) return;
                *tags[half]++ = tag;
                slots_[next[half]++] = slot;
            });
        }
        for (u64 at = 0; at < count; ++at) {
            if (groups[(at - 1) & (count - 1)].passed == 0) continue;
            each_slot(at, [&](const FlatSlot& slot, u64 hash, u8) {
                if ((hash & (count - 1)) != at) add_pair(slot);
            });
        }
    }

    // Searches read one cache line of a table.
    alignas(64) TagGroup* sought_ = &no_group;  // the groups, or the hidden group of a table with a secret
    u64 sought_mask_ = 0;
    FlatSlot* slots_ = nullptr;  // 15 a group
    TagGroup* groups_ = &no_group;
    u64 mask_ = 0;  // number of groups - 1
    u64 used_ = 0;
    u64 limit_ = 0;  // number of keys up to which one may be added to its first group; 0 in a table with a secret
    std::unique_ptr<Rest> rest_;
};

}  // namespace headrace
