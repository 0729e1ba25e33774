// Tests sorts by several threads against std::sort: keys, places of keys, the first ones. Covers every instruction set,
// and keys that many threads halve, pass by digits, count, or find in order. Long runs of keys that agree in their
// highest bits reach over the shares of several threads. Facts about shares are combined as if they were one.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "arrange/sort/cpu/shares.hpp"
#include "arrange/sort/cpu/sort.hpp"
#include "check.hpp"

using namespace headrace;

namespace {

constexpr u64 COUNT = 150'000;

struct Case {
    const char* name;
    u64 (*key)(check::Random&, u64 i);
};

const Case CASES[] = {
    {"any", [](check::Random& random, u64) -> u64 { return random.next(); }},
    {"rising", [](check::Random&, u64 i) { return i * 3; }},
    {"falling", [](check::Random&, u64 i) { return ~u64{0} - i; }},
    {"few values", [](check::Random& random, u64) -> u64 { return random.below(5) << 40; }},
    // All of 64 bits vary, and 18 are the number's. Words agree in long runs, which the keys put in order.
    {"long runs", [](check::Random& random, u64 i) { return (i / 60'000) << 63 | random.below(1 << 17); }},
    {"one run", [](check::Random& random, u64 i) { return i == 0 ? u64{1} << 63 : random.below(1 << 17); }},
};

template <class Key>
std::vector<Key> keys_of(const Case& made) {
    check::Random random(made.name);
    std::vector<Key> keys(COUNT);
    for (u64 i = 0; i < COUNT; ++i) keys[i] = static_cast<Key>(made.key(random, i));
    return keys;
}

// Spare memory on a line's boundary.
struct Spare {
    explicit Spare(u64 bytes) : held(bytes / 8 + 16) {
        at = held.data();
        while (reinterpret_cast<u64>(at) % 64 != 0) ++at;
    }
    std::vector<u64> held;
    u64* at;
};

template <class Key>
struct Sorts {
    std::vector<Key> keys;
    std::vector<Key> sorted = keys;
    std::vector<u64> places = std::vector<u64>(COUNT);

    explicit Sorts(const Case& made) : keys(keys_of<Key>(made)) {
        std::sort(sorted.begin(), sorted.end());
        std::iota(places.begin(), places.end(), u64{0});
        std::stable_sort(places.begin(), places.end(), [&](u64 a, u64 b) { return keys[a] < keys[b]; });
    }

    void test(const SortWith& how) const {
        const Key rule[4] = {};
        const SortedKeys by{keys.data(), COUNT, sizeof(Key), rule};
        const Spare to(COUNT * sizeof(Key)), spare(COUNT * sizeof(u64)), order(COUNT * sizeof(u64));
        sort_keys(by, to.at, spare.at, how);
        CHECK(std::memcmp(to.at, sorted.data(), COUNT * sizeof(Key)) == 0);

        const unsigned index_bits = sort_order(by, order.at, spare.at, how);
        std::vector<u64> found(COUNT);
        take_in_order(order.at, index_bits, COUNT, {nullptr, found.data(), 8}, how.threads);
        CHECK(found == places);

        constexpr u64 FIRST = 1'000, UNUSED = ~u64{0};
        std::vector<u64> first(COUNT, UNUSED);
        find_first(by, FIRST, first.data(), how);
        CHECK(std::all_of(first.begin() + FIRST, first.end(), [](u64 place) { return place == UNUSED; }));
        first.resize(FIRST);
        std::vector<u64> least(places.begin(), places.begin() + FIRST);
        std::sort(least.begin(), least.end());
        CHECK(first == least);
        CHECK_EQ(is_in_order(by, how), keys == sorted);
    }
};

template <class Key>
void test_width(const std::vector<unsigned>& thread_counts) {
    for (const Case& made : CASES) {
        const Sorts<Key> sorts(made);
        for (const Isa isa : available_isas()) {
            for (const unsigned threads : thread_counts) sorts.test({isa, threads});
        }
    }
}

KeysSeen seen_of(const u64* keys, u64 count, Isa isa) {
    const u64 rule[4] = {};
    KeysSeen seen;
    sort_kernels_at(isa).look[3](keys, count, rule, {}, &seen);
    return seen;
}

// Looks at each share, and at all keys at once. Keys may fall at the border of two shares only, and a bit may be the
// same in all keys of one share.
void test_seen_together() {
    check::Random random("seen together");
    for (int run = 0; run < 2'000; ++run) {
        std::vector<u64> keys;
        std::vector<KeysSeen> seen;
        const u64 shares = 1 + random.below(4), kind = random.below(3);
        for (u64 share = 0; share < shares; ++share) {
            std::vector<u64> own(1 + random.below(4));
            for (u64& key : own) key = random.below(4) << 8 | random.below(4);
            if (kind != 0) std::sort(own.begin(), own.end());
            if (kind == 2) std::reverse(own.begin(), own.end());
            seen.push_back(seen_of(own.data(), own.size(), Isa::scalar));
            keys.insert(keys.end(), own.begin(), own.end());
        }
        const KeysSeen all = seen_together(seen), expected = seen_of(keys.data(), keys.size(), Isa::scalar);
        CHECK_EQ(all.any, expected.any);
        CHECK_EQ(all.all, expected.all);
        CHECK_EQ(all.first, expected.first);
        CHECK_EQ(all.last, expected.last);
        CHECK_EQ(all.rises, expected.rises);
        CHECK_EQ(all.falls, expected.falls);
    }
}

// Once no steps are left, the pivot of quicksort is the middle of the least and the greatest item. Here the greatest
// is in the first or last register, or among the items after the last whole register.
template <class Key>
void test_middle(usize width_number) {
    for (const Isa isa : available_isas()) {
        const SortKernels& kernels = sort_kernels_at(isa);
        if (!kernels.sorts_in_place) continue;
        constexpr u64 count = 4'101;  // not a multiple of any register's items
        for (const u64 greatest : {u64{0}, u64{7}, count / 2, count - 6, count - 5, count - 1}) {
            std::vector<Key> items(count, Key{10});
            items[greatest] = 20;
            QuickPiece upper{count, 0, false, 0}, lower{};
            CHECK(!kernels.halve[width_number](items.data(), &upper, &lower));
            CHECK_EQ(upper.count, u64{1});
            CHECK_EQ(lower.count, count - 1);
            CHECK_EQ(u64{items.back()}, u64{20});
        }
        std::vector<Key> same(count, Key{10});
        QuickPiece upper{count, 0, false, 0}, lower{};
        CHECK(kernels.halve[width_number](same.data(), &upper, &lower));
        CHECK_EQ(lower.count, count);
    }
}

}  // namespace

// The first argument: a number of threads to sort with, if one is enough.
int main(int count, char** arguments) {
    const int only = check::first_argument(count, arguments, 0);
    const std::vector<unsigned> thread_counts =
        only != 0 ? std::vector{static_cast<unsigned>(only)} : std::vector{1u, 3u, 9u};
    test_seen_together();
    test_middle<u16>(1);
    test_middle<u32>(2);
    test_middle<u64>(3);
    test_width<u64>(thread_counts);
    test_width<u32>(thread_counts);
    test_width<u16>(thread_counts);
    test_width<u8>(thread_counts);
    return check::finish();
}
