#include "arrange/histogram/histogram.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "arrange/bucket/cell_words.hpp"
#include "arrange/histogram/histogram_kernels.hpp"
#include "core/cpu/cache_blocks.hpp"
#include "core/expressions/expression.hpp"

namespace headrace {

HR_FOR_EACH_ISA(CountKeys(KeyType), count_keys)

namespace {

// Chooses the number of counter copies. With eight copies, equal keys are as fast as any others. If eight would fill
// L1, which also has the keys in flight, four are used. Four are half as fast with equal keys, and faster than one with
// all keys. With few keys, one copy is used, since clearing and adding copies would cost more.
constexpr u32 counter_bytes = 32 << 10;

u32 copies_for(u32 buckets, u64 keys) {
    if (keys < u64{8} * buckets) return 1;
    return 8 * 4 * buckets <= counter_bytes ? 8 : 4;
}

constexpr u64 max_u32 = u64{1} << 31;

// Counters of one thread: 32 bits each, added to the result before one can overflow.
class Tally {
public:
    Tally(u32 buckets, u32 copies) : buckets_(buckets) {
        // An odd number of cache lines, so that no two copies of a bucket are a multiple of 4 KB apart. Processors take
        // such addresses for the same address when they order loads after stores.
        const u32 stride = ((buckets / 16 + 1) | 1) * 16;
        memory_.resize(static_cast<usize>(copies) * stride);
        counters_ = {memory_.data(), copies, stride};
    }

    const BucketCounters& counters_for(u64 keys, u64* result, std::mutex& adding) {
        if (counted_ + keys > max_u32) add_to(result, adding);
        counted_ += keys;
        return counters_;
    }

    void add_to(u64* result, std::mutex& adding) {
        const std::lock_guard lock(adding);
        for (u32 copy = 0; copy < counters_.copies; ++copy) {
            const u32* const own = memory_.data() + copy * counters_.stride;
            for (u32 bucket = 0; bucket < buckets_; ++bucket) result[bucket] += own[bucket];
        }
        std::fill(memory_.begin(), memory_.end(), 0u);
        counted_ = 0;
    }

private:
    u32 buckets_;
    std::vector<u32> memory_;
    BucketCounters counters_{};
    u64 counted_ = 0;
};

// Calls count_piece(keys, n, counters) for each piece of keys; `begin` creates that function for each thread.
template <class Key, class Begin>
void count_all(const KeysToCount& input, const BucketsGiven& how, unsigned threads, const Begin& begin) {
    struct State {
        Tally tally;
        decltype(begin()) count_piece;
    };
    const auto* const keys = static_cast<const u8*>(input.keys);  // at any alignment
    const Pieces pieces(input.count, sizeof(Key));
    const u32 copies = copies_for(how.buckets, input.count);
    std::mutex adding;
    std::fill(how.result, how.result + how.buckets, u64{0});
    for_each_piece(
        pieces.number(), threads, [&] { return State{Tally(how.buckets, copies), begin()}; },
        [&](State& state, u64 piece) {
            const u64 size = pieces.size(piece);
            const BucketCounters& counters = state.tally.counters_for(size, how.result, adding);
            state.count_piece(keys + pieces.begin(piece) * sizeof(Key), size, counters);
        },
        [&](State& state) { state.tally.add_to(how.result, adding); });
}

template <class Description>
Description described(std::string_view bytes) {
    Description description;
    if (bytes.size() != sizeof(description)) throw std::invalid_argument("not a description of such buckets");
    std::memcpy(&description, bytes.data(), sizeof(description));
    return description;
}

template <class Key>
void histogram_of(KeyType type, const KeysToCount& input, const BucketsGiven& how, Isa isa, unsigned threads) {
    const CountKeys kernel = count_keys_for(isa)(type);
    const auto count_by = [&](const BucketSearch& search) {
        count_all<Key>(input, how, threads, [&] {
            return [&](const void* keys, u64 n, const BucketCounters& counters) { kernel(keys, n, search, counters); };
        });
    };
    if (how.edges == nullptr) {
        const auto even = described<Even<Key>>(how.description);
        return count_by({&even, how.buckets, nullptr, nullptr});
    }
    const auto cells = described<Cells<Key>>(how.description);
    const auto* const edges = static_cast<const typename Cells<Key>::Wide*>(how.edges);
    const std::vector<u32> words = words_of(cells, edges);
    count_by({&cells, how.buckets, edges, words.data()});
}

// Buckets of width 1 from 0, so that a value is its own bucket.
void histogram_computed(const KeysToCount& input, const BucketsGiven& how, Isa isa, unsigned threads) {
    const auto expression = Expression::of(how.description, "u32", isa);
    const CountKeys kernel = count_keys_for(isa)(KeyType::u32);
    const Even<u32> own{};
    const BucketSearch search{&own, how.buckets, nullptr, nullptr};
    count_all<u32>(input, how, threads, [&] {
        return [&, find = expression->begin()](const void* source, u64 n, const BucketCounters& counters) {
            const auto* const keys = static_cast<const u32*>(source);
            std::array<u32, Expression::piece> found;
            for (u64 i = 0; i < n; i += Expression::piece) {
                const usize some = std::min<u64>(n - i, Expression::piece);
                find(keys + i, some, found.data());
                kernel(found.data(), some, search, counters);
            }
        };
    });
}

}  // namespace

void histogram(const KeysToCount& input, const BucketsGiven& how, Isa isa, unsigned threads) {
    if (how.computed && input.key == "u32") return histogram_computed(input, how, isa, threads);
    if (input.key == "u8") return histogram_of<u8>(KeyType::u8, input, how, isa, threads);
    if (input.key == "u16") return histogram_of<u16>(KeyType::u16, input, how, isa, threads);
    if (input.key == "u32") return histogram_of<u32>(KeyType::u32, input, how, isa, threads);
    if (input.key == "u64") return histogram_of<u64>(KeyType::u64, input, how, isa, threads);
    if (input.key == "float") return histogram_of<float>(KeyType::f32, input, how, isa, threads);
    if (input.key == "double") return histogram_of<double>(KeyType::f64, input, how, isa, threads);
    throw std::invalid_argument("no such type of keys");
}

}  // namespace headrace
