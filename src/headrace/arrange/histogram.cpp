#include "arrange/histogram.hpp"

#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrange/bucket.hpp"
#include "arrange/expression.hpp"
#include "arrange/histogram_kernels.hpp"
#include "core/pieces.hpp"

namespace headrace {

namespace scalar {
const HistogramKernels& histogram_kernels(KeyType key);
}
#if defined(__x86_64__)
namespace avx2 {
const HistogramKernels& histogram_kernels(KeyType key);
}
namespace avx512 {
const HistogramKernels& histogram_kernels(KeyType key);
}
#endif

namespace {

// Eight copies keep up with keys that are all the same; where they would fill L1, which also holds keys on their way,
// four are half as fast with such keys, and better than one with any. Copies that few keys would pay for are not made.
constexpr u32 counter_bytes = 32 << 10;

u32 copies_for(u32 buckets, u64 keys) {
    if (keys < u64{8} * buckets) return 1;
    return 8 * 4 * buckets <= counter_bytes ? 8 : 4;
}

constexpr u64 most_of_u32 = u64{1} << 31;

const HistogramKernels& kernels_of(KeyType key, Isa isa) {
    switch (isa) {
#if defined(__x86_64__)
        case Isa::avx512:
            return avx512::histogram_kernels(key);
        case Isa::avx2:
            return avx2::histogram_kernels(key);
#endif
        default:
            return scalar::histogram_kernels(key);
    }
}

KeyType key_of(std::string_view name) {
    if (name == "u8") return KeyType::u8;
    if (name == "u16") return KeyType::u16;
    if (name == "u32") return KeyType::u32;
    if (name == "u64") return KeyType::u64;
    if (name == "float") return KeyType::f32;
    if (name == "double") return KeyType::f64;
    throw std::invalid_argument("no such type of keys");
}

// One thread's counters. They hold 32 bits and are added to the result before one can be full.
class Tally {
public:
    Tally(u32 buckets, u32 copies) : buckets_(buckets) {
        // An odd number of lines: no two copies of a bucket are a multiple of 4 KB apart, which loads and stores take
        // for the same place.
        const u32 stride = ((buckets / 16 + 1) | 1) * 16;
        memory_.resize(static_cast<usize>(copies) * stride);
        counters_ = {memory_.data(), copies, stride};
    }

    const Counters& counters_for(u64 keys, u64* result, std::mutex& adding) {
        if (counted_ + keys > most_of_u32) add_to(result, adding);
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
    Counters counters_{};
    u64 counted_ = 0;
};

// Calls count(state, tally, piece's first key, its size) for all pieces; `begin` makes a thread's state.
template <class Begin, class Count>
void count_pieces(const KeysToCount& input, const BucketsGiven& how, u32 key_bytes, unsigned threads,
                  const Begin& begin, const Count& count) {
    std::fill(how.result, how.result + how.buckets, u64{0});
    const Pieces pieces(input.count, key_bytes);
    const u32 copies = copies_for(how.buckets, input.count);
    std::mutex adding;
    for_each_piece(
        pieces.number(), threads, [&] { return std::pair(Tally(how.buckets, copies), begin()); },
        [&](auto& own, u64 piece) {
            const u64 size = pieces.size(piece);
            const u8* const keys = static_cast<const u8*>(input.keys) + pieces.begin(piece) * key_bytes;
            count(own.second, own.first.counters_for(size, how.result, adding), keys, size);
        },
        [&](auto& own) { own.first.add_to(how.result, adding); });
}

// Values of an expression are counted as keys that are parts themselves.
void histogram_computed(const KeysToCount& input, const BucketsGiven& how, const HistogramKernels& kernels,
                        unsigned threads) {
    const Expression expression(how.description);
    constexpr Even<u32> as_it_is = {0, 0, 0};
    const BucketSearch search{&as_it_is, how.buckets, nullptr, nullptr};
    struct Rooms {
        Expression::Room values;
        std::vector<u32> keys;
    };
    count_pieces(
        input, how, sizeof(u32), threads, [&] { return Rooms{expression.room(), std::vector<u32>(Expression::piece)}; },
        [&](Rooms& rooms, const Counters& counters, const u8* keys, u64 count) {
            for (u64 i = 0; i < count; i += Expression::piece) {
                const usize some = std::min<u64>(count - i, Expression::piece);
                std::memcpy(rooms.keys.data(), keys + i * sizeof(u32), some * sizeof(u32));  // keys lie anywhere
                kernels.count(expression.of(rooms.keys.data(), some, rooms.values), some, search, counters);
            }
        });
}

}  // namespace

void histogram(const KeysToCount& input, const BucketsGiven& how, Isa isa, unsigned threads) {
    const KeyType key = key_of(input.key);
    const HistogramKernels& kernels = kernels_of(key, isa);
    if (how.computed && key == KeyType::u32) return histogram_computed(input, how, kernels, threads);
    alignas(16) u8 description[32];
    if (how.description.size() != (how.edges == nullptr ? kernels.even_bytes : kernels.cells_bytes)) {
        throw std::invalid_argument("not a description of such buckets");
    }
    std::memcpy(description, how.description.data(), how.description.size());
    std::vector<u32> words(how.edges == nullptr ? 0 : kernels.cells(description) + 1);
    const BucketSearch search{description, how.buckets, how.edges, words.data()};
    if (how.edges != nullptr) kernels.describe_cells(search);
    count_pieces(
        input, how, kernels.key_bytes, threads, [] { return 0; },
        [&](int, const Counters& counters, const u8* keys, u64 count) {
            kernels.count(keys, count, search, counters);
        });
}

}  // namespace headrace
