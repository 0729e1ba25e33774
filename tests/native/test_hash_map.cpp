// Replays random batches on hash maps and on the standard library's, on several threads and without memory. Compares
// tags of slots one by one.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "check.hpp"
#include "index/hash_map/cpu/hash_map_host.hpp"
#include "index/hash_map/cpu/tag_group.hpp"

using namespace headrace;

namespace {

struct Batch {
    std::vector<u64> keys, values;
    PairBatch pairs() const { return {keys.data(), values.data(), keys.size()}; }
    KeyBatch of_keys() const { return {keys.data(), keys.size()}; }
};

Batch random_batch(check::Random& random, u64 count, u64 span) {
    Batch batch;
    for (u64 i = 0; i < count; ++i) {
        batch.keys.push_back(random.below(50) == 0 ? ~u64{0} : random.below(span));
        batch.values.push_back(random.next());
    }
    return batch;
}

using Pairs = std::map<u64, u64>;

Pairs pairs_of(const HostHashMap& map) {
    std::vector<u64> keys(map.statistics().size), values(keys.size());
    map.items(keys.data(), values.data(), 2);
    Pairs pairs;
    for (u64 i = 0; i < keys.size(); ++i) pairs[keys[i]] = values[i];
    CHECK(pairs.size() == keys.size());
    return pairs;
}

void test_histories(unsigned threads, Isa isa) {
    check::Random random("histories");
    const BatchResources resources{isa, threads};
    const auto map = new_hash_map({8, 8}, std::make_shared<Budget>(), 7);
    Pairs expected;
    for (int step = 0; step < 20; ++step) {
        const Batch batch = random_batch(random, random.below(20000), 9000);
        map->upsert(batch.pairs(), {Reduce::sum, NumberKind::unsigned_integer}, resources);
        for (u64 i = 0; i < batch.keys.size(); ++i) expected[batch.keys[i]] += batch.values[i];
        const Batch few = random_batch(random, random.below(9000), 12000);
        std::vector<u8> found(few.keys.size());
        map->erase(few.of_keys(), found.data(), resources);
        for (u64 i = 0; i < found.size(); ++i) CHECK(found[i] == expected.erase(few.keys[i]));
        std::vector<u64> values(batch.keys.size());
        found.resize(values.size());
        map->find(batch.of_keys(), values.data(), found.data(), resources);
        for (u64 i = 0; i < values.size(); ++i) {
            const auto at = expected.find(batch.keys[i]);
            CHECK(found[i] == (at != expected.end()) && values[i] == (found[i] != 0 ? at->second : 0));
        }
        if (step % 5 == 0) map->compact(threads);
    }
    CHECK(pairs_of(*map) == expected);
}

// Without memory for a batch, the map is as before.
void test_undo(unsigned threads, Isa isa) {
    check::Random random("undo");
    const BatchResources resources{isa, threads};
    const auto map = new_hash_map({8, 8}, std::make_shared<Budget>(700'000), 7);
    const Batch first = random_batch(random, 10000, 20000);
    map->upsert(first.pairs(), {Reduce::last, NumberKind::unsigned_integer}, resources);
    const Pairs before = pairs_of(*map);
    // the first half has keys of the map again, and few new ones
    Batch second = random_batch(random, 200000, 1 << 20);
    for (u64 i = 0; i < 100000; ++i) second.keys[i] = random.below(16) == 0 ? second.keys[i] : first.keys[i % 10000];
    bool is_refused = false;
    try {
        map->upsert(second.pairs(), {Reduce::last, NumberKind::unsigned_integer}, resources);
    } catch (const MemoryLimitExceeded&) {
        is_refused = true;
    }
    CHECK(is_refused);
    CHECK(pairs_of(*map) == before);
}

void test_multimap(unsigned threads) {
    check::Random random("histories");
    const auto map = new_multi_map({8, 8}, std::make_shared<Budget>(), 7);
    std::map<u64, std::multiset<u64>> expected;
    const KeyRule<u64> ascending{0, 0, 0, 0};
    for (int step = 0; step < 10; ++step) {
        const Batch batch = random_batch(random, random.below(20000), 3000);
        map->insert(batch.pairs(), threads);
        for (u64 i = 0; i < batch.keys.size(); ++i) expected[batch.keys[i]].insert(batch.values[i]);
        const Batch few = random_batch(random, 2000, 4000);
        std::vector<u8> found(few.keys.size());
        map->erase(few.of_keys(), &ascending, found.data(), threads);
        for (u64 i = 0; i < found.size(); ++i) {
            std::multiset<u64>& values = expected[few.keys[i]];
            CHECK(found[i] == !values.empty());
            if (!values.empty()) values.erase(values.begin());
        }
    }
    for (const auto& [key, list] : expected) {
        i64 offsets[2] = {0, 0};
        map->count({&key, 1}, offsets + 1, threads);
        CHECK(offsets[1] == static_cast<i64>(list.size()));
        std::vector<u64> values(list.size());
        map->find_all({&key, 1}, &ascending, offsets, values.data(), threads);
        CHECK(std::equal(values.begin(), values.end(), list.begin(), list.end()));
    }
}

// Takes a slot off a set if it is the first one, as a search does; returns whether it was.
bool takes_first(TagGroup::Slots& slots, u32 slot) {
    if (slots == 0 || TagGroup::first(slots) != slot) return false;
    slots &= slots - 1;
    return true;
}

void test_tags() {
    check::Random random("tags");
    for (int step = 0; step < 2000; ++step) {
        TagGroup group{};
        const u64 span = step % 2 == 0 ? 3 : 256;  // many equal tags, or any
        for (u8& tag : group.tags) tag = static_cast<u8>(random.below(span));
        group.passed = static_cast<u8>(random.below(span));
        const u8 wanted = static_cast<u8>(random.below(span));
        TagGroup::Tag tag;
        std::fill_n(tag.bytes, 16, wanted);
        TagGroup::Slots equal = group.equal(tag), used = group.used();
        const u32 bytes = equal_bytes(group.tags, wanted);
        for (u32 slot = 0; slot < TagGroup::slot_count; ++slot) {
            CHECK(takes_first(equal, slot) == (group.tags[slot] == wanted));
            CHECK(takes_first(used, slot) == (group.tags[slot] != TagGroup::empty));
            CHECK(slot >= 8 || (bytes >> slot & 1) == (group.tags[slot] == wanted));
        }
        CHECK(equal == 0 && used == 0 && bytes <= 0xFF);
        CHECK(TagGroup::first(TagGroup::past_slots) == TagGroup::slot_count);
    }
}

// A group with as many passes as a count holds keeps its count.
void test_passes() {
    TagGroup group{};
    for (int key = 0; key < 300; ++key) group.count_passed();
    CHECK(group.passed == TagGroup::max_passed);
    group.discount_passed();
    CHECK(group.passed == TagGroup::max_passed);
    group.passed = 1;
    group.discount_passed();
    CHECK(group.passed == 0);
}

}  // namespace

int main() {
    test_tags();
    test_passes();
    for (const unsigned threads : {1u, 4u}) {
        for (const Isa isa : {Isa::scalar, choose_isa("")}) {
            test_histories(threads, isa);
            test_undo(threads, isa);
        }
        test_multimap(threads);
    }
    return check::finish();
}
