// Scan, reduce, select and histogram of every instruction set against loops. Arrays lie at the end of their
// allocation, for the sanitizers.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "arrange/histogram/histogram.hpp"
#include "check.hpp"
#include "core/expressions/expression_kernels.hpp"
#include "core/operators.hpp"
#include "primitives/cpu/scan.hpp"
#include "primitives/cpu/select.hpp"

using namespace headrace;

namespace {

// Exactly `count` items, and some before them, so that they may lie anywhere.
template <class T>
class AtTheEnd {
public:
    explicit AtTheEnd(usize count, usize before = 0) : count_(count), items_(new T[before + count]), before_(before) {}
    T* begin() { return items_.get() + before_; }
    T* end() { return begin() + count_; }
    T& operator[](usize i) { return begin()[i]; }

private:
    usize count_;
    std::unique_ptr<T[]> items_;
    usize before_;
};

const std::vector<usize>& sizes() {
    static const std::vector<usize> all = {0, 1, 3, 15, 16, 17, 63, 64, 65, 200, 65535, 65537, 600'003};
    return all;
}

template <class Op>
void test_join(const OperatorName& what, check::Random& random) {
    using T = typename Op::Item;
    for (const usize count : sizes()) {
        AtTheEnd<T> items(count, count % 3), out(count, count % 5);
        for (auto& item : items) item = static_cast<T>(static_cast<i64>(random.below(2001)) - 1000);
        for (const Isa isa : available_isas()) {
            for (const unsigned threads : {1u, 3u}) {
                for (const bool exclusive : {false, true}) {
                    scan(what, {items.begin(), out.begin(), count}, exclusive, isa, threads);
                    T before = Op::identity();
                    bool same = true;
                    for (usize i = 0; i < count; ++i) {
                        const T after = Op::join(before, items[i]);
                        const T expected = exclusive ? before : after;
                        same &= std::memcmp(&out[i], &expected, sizeof(T)) == 0;
                        before = after;
                    }
                    CHECK(same);
                    T one;
                    reduce(what, {items.begin(), &one, count}, isa, threads);
                    CHECK(std::memcmp(&one, &before, sizeof(T)) == 0);
                }
            }
        }
    }
}

template <class Item>
void test_select(check::Random& random) {
    for (const usize count : sizes()) {
        AtTheEnd<Item> items(count, 1);
        AtTheEnd<u8> flags(count, 3);
        std::vector<Item> expected;
        for (usize i = 0; i < count; ++i) {
            items[i] = static_cast<Item>(random.next());
            flags[i] = static_cast<u8>(random.below(3) * 100);
            if (flags[i] != 0) expected.push_back(items[i]);
        }
        AtTheEnd<Item> out(expected.size(), 2);
        for (const Isa isa : available_isas()) {
            for (const unsigned threads : {1u, 3u}) {
                std::fill(out.begin(), out.end(), Item{});
                const auto room = [&](u64 selected) {
                    CHECK_EQ(selected, expected.size());
                    return out.begin();
                };
                select({items.begin(), flags.begin(), count, sizeof(Item)}, room, isa, threads);
                CHECK(std::equal(expected.begin(), expected.end(), out.begin()));
            }
        }
    }
}

struct Counting {
    std::string_view key, description;
    const void* edges;
    bool computed;
};

// Counts are the same by every instruction set, on any number of threads.
template <class Key>
void test_counts(AtTheEnd<Key>& keys, const Counting& how, const std::vector<u64>& expected) {
    const usize count = static_cast<usize>(keys.end() - keys.begin());
    for (const Isa isa : available_isas()) {
        for (const unsigned threads : {1u, 2u}) {
            std::vector<u64> result(expected.size());
            histogram({how.key, keys.begin(), count},
                      {static_cast<u32>(result.size()), how.description, how.edges, how.computed, result.data()}, isa,
                      threads);
            CHECK(result == expected);
        }
    }
}

template <class T>
std::string_view bytes_of(const T& item) {
    return {reinterpret_cast<const char*>(&item), sizeof(item)};
}

// Tests histograms by 5 even parts of [20, 120), by parts of 2 from 0 on, and between edges, of which some are equal.
template <class Key>
void test_histogram(std::string_view key, check::Random& random) {
    using Wide = typename Cells<Key>::Wide;
    const Key given[] = {20, 20, 50, 51, 52, 70, 70, 120};
    AtTheEnd<Wide> edges(8);
    const Wide first = Widened<Key>::whole ? 20 : 0;
    for (usize i = 0; i < 8; ++i) edges[i] = static_cast<Wide>(static_cast<Wide>(given[i]) - first);
    Even<Key> fifths{}, pairs{};
    Cells<Key> cells{20, 0, 0, 30, 27, 7};
    if constexpr (!Widened<Key>::whole) {
        fifths = {{20, 120, Key(0.05), 0}};
        pairs = {{0, 40, Key(0.5), 0}};
        cells.scale = 42'000'000;
        cells.multiplier = 30;
    } else {
        cells.multiplier = static_cast<u32>((u64{30} << 32) / 101);
        pairs.shift = 1;
        fifths.low = 20;
        if constexpr (sizeof(Key) == 8) {
            fifths.high = ~u64{0} / 100 * 5;
            fifths.below = ~u64{0};
        } else {
            fifths.multiplier = ~u64{0} / 100 * 5 + 5;
        }
    }
    for (const usize count : sizes()) {
        AtTheEnd<Key> keys(count, 1);
        std::vector<u64> by_fifths(5), by_pairs(20), between(7);
        for (auto& item : keys) {
            item = static_cast<Key>(random.below(200));
            if (item >= 20 && item < 120) {
                ++by_fifths[static_cast<usize>(item - 20) / 20];
                ++between[static_cast<usize>(std::upper_bound(std::begin(given), std::end(given), item) - given - 1)];
            }
            if (item < 40) ++by_pairs[static_cast<usize>(item) / 2];
        }
        test_counts(keys, {key, bytes_of(fifths), nullptr, false}, by_fifths);
        test_counts(keys, {key, bytes_of(pairs), nullptr, false}, by_pairs);
        test_counts(keys, {key, bytes_of(cells), edges.begin(), false}, between);
    }
}

// (key * 2654435761 ^ key) % 1000, and of that the results below 300.
void test_computed(check::Random& random) {
    struct {
        u32 values = 0, unused = 0;  // of unsigned words
        struct {
            ExpressionOperation operation;
            u64 number = 0;
        } steps[7] = {{ExpressionOperation::key},      {ExpressionOperation::number, 2654435761u},
                      {ExpressionOperation::multiply}, {ExpressionOperation::key},
                      {ExpressionOperation::differ},   {ExpressionOperation::number, 1000},
                      {ExpressionOperation::remain}};
    } program;
    for (const usize count : sizes()) {
        AtTheEnd<u32> keys(count, 1);
        std::vector<u64> expected(300);
        for (auto& key : keys) {
            key = static_cast<u32>(random.next());
            const u32 value = ((key * 2654435761u) ^ key) % 1000;
            if (value < 300) ++expected[value];
        }
        test_counts(keys, {"u32", bytes_of(program), nullptr, true}, expected);
    }
}

}  // namespace

int main() {
    check::Random random("twins");
    test_join<Sum<u32>>({"Sum", "u32"}, random);
    test_join<Sum<u64>>({"Sum", "u64"}, random);
    test_join<Min<i32>>({"Min", "i32"}, random);
    test_join<Max<u64>>({"Max", "u64"}, random);
    test_join<Min<float>>({"Min", "float"}, random);
    test_join<Max<double>>({"Max", "double"}, random);
    test_select<u8>(random);
    test_select<u16>(random);
    test_select<u32>(random);
    test_select<u64>(random);
    test_histogram<u8>("u8", random);
    test_histogram<u16>("u16", random);
    test_histogram<u32>("u32", random);
    test_histogram<u64>("u64", random);
    test_histogram<float>("float", random);
    test_histogram<double>("double", random);
    test_computed(random);
    return check::finish();
}
