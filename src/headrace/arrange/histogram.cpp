#include "arrange/histogram.hpp"

#include <cstring>
#include <mutex>
#include <stdexcept>
#include <vector>

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
constexpr u32 cells = 4096;  // 16 KB

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
    if (name == "u32") return KeyType::u32;
    if (name == "i32") return KeyType::i32;
    if (name == "float") return KeyType::f32;
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

}  // namespace

void histogram(const KeysToCount& input, const BucketsGiven& how, Isa isa, unsigned threads) {
    const KeyType key = key_of(input.key);
    const HistogramKernels& kernels = kernels_of(key, isa);
    alignas(16) u8 even[16];
    if (how.even.size() != sizeof(even)) throw std::invalid_argument("not a description of even parts");
    std::memcpy(even, how.even.data(), sizeof(even));
    std::vector<u32> words(how.edges == nullptr ? 0 : cells);
    const BucketSearch search{even, how.buckets, how.edges, words.data(), cells};
    if (how.edges != nullptr) kernels.describe_cells(search);
    std::fill(how.result, how.result + how.buckets, u64{0});
    constexpr u64 width = 4;
    const Pieces pieces(input.count, width);
    const u32 copies = copies_for(how.buckets, input.count);
    std::mutex adding;
    for_each_piece(
        pieces.number(), threads, [&] { return Tally(how.buckets, copies); },
        [&](Tally& tally, u64 piece) {
            const u64 size = pieces.size(piece);
            kernels.count(static_cast<const u8*>(input.keys) + pieces.begin(piece) * width, size, search,
                          tally.counters_for(size, how.result, adding));
        },
        [&](Tally& tally) { tally.add_to(how.result, adding); });
}

}  // namespace headrace
