// Scan, reduce, select and histogram of every instruction set against loops. Arrays lie at the end of their
// allocation, for the sanitizers.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "arrange/bucket.hpp"
#include "arrange/histogram.hpp"
#include "check.hpp"
#include "core/operators.hpp"
#include "core/scan.hpp"
#include "core/select.hpp"

using namespace headrace;

namespace {

// Exactly so many items, and some before them, so that they may lie anywhere.
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
void test_join(const Joined& what, check::Random& random) {
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

// By 5 even parts of [100, 1,000,100), by powers of two, and between edges, of which some are equal.
void test_histogram(check::Random& random) {
    AtTheEnd<u32> edges(8);
    const u32 given[] = {100, 100, 5000, 5001, 5002, 70'000, 70'000, 1'000'100};
    std::copy(std::begin(given), std::end(given), edges.begin());
    const Even<u32> fifths = {~u64{0} / 1'000'000 * 5 + 5, 100, 999'999}, shifted = {u64{1} << 40, 0, ~0u},
                    cells = {~u64{0} / 1'000'000 * 4096 + 4096, 100, 999'999};
    for (const usize count : sizes()) {
        AtTheEnd<u32> keys(count, 1);
        std::vector<u64> by_fifths(5), by_shift(256), between(7);
        for (auto& key : keys) {
            key = static_cast<u32>(random.next() >> (random.below(2) == 0 ? 32 : 45));
            if (key >= 100 && key < 1'000'100) {
                ++by_fifths[(key - 100) / 200'000];
                ++between[static_cast<usize>(std::upper_bound(edges.begin(), edges.end(), key) - edges.begin() - 1)];
            }
            ++by_shift[key >> 24];
        }
        for (const Isa isa : available_isas()) {
            const auto counted = [&](const Even<u32>& even, const u32* between_edges, usize buckets) {
                std::vector<u64> result(buckets);
                const std::string_view described(reinterpret_cast<const char*>(&even), sizeof(even));
                histogram({"u32", keys.begin(), count},
                          {static_cast<u32>(buckets), described, between_edges, result.data()}, isa, 2);
                return result;
            };
            CHECK(counted(fifths, nullptr, 5) == by_fifths);
            CHECK(counted(shifted, nullptr, 256) == by_shift);
            CHECK(counted(cells, edges.begin(), 7) == between);
        }
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
    test_histogram(random);
    return check::finish();
}
