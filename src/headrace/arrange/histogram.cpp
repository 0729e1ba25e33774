#include "arrange/histogram.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "arrange/expression.hpp"
#include "core/pool.hpp"

namespace headrace {
namespace {

constexpr u64 least_part = 1 << 16;
constexpr u64 most_of_u32 = 1 << 30;
// Keys that follow each other are counted apart: an addition need not wait for the one before it.
constexpr u32 replicas = 4;
constexpr u32 most_replicated = 4096;

// A counter for those in no bucket is behind the others.
template <class Key, class Bucket>
void count_part(const Key* keys, u64 count, u32* counters, u32 stride, const Bucket& bucket) {
    u64 i = 0;
    for (; i + replicas <= count; i += replicas) {
        for (u32 r = 0; r < replicas; ++r) ++counters[bucket(keys[i + r]) + r * stride];
    }
    for (; i < count; ++i) ++counters[bucket(keys[i])];
}

// `count_into(keys, count, counters, stride)` counts a thread's part.
template <class Key, class CountInto>
void count_all(const Key* keys, u64 count, u32 buckets, u64* result, unsigned threads, const CountInto& count_into) {
    const unsigned parts = static_cast<unsigned>(std::clamp<u64>(count / least_part, 1, threads));
    const u32 slots = buckets + 1;
    const u32 copies = buckets <= most_replicated ? replicas : 1;
    std::mutex adding;
    std::fill(result, result + buckets, u64{0});
    run_parallel(parts, [&](unsigned part) {
        const u64 end = count / parts * (part + 1) + (part + 1 == parts ? count % parts : 0);
        std::vector<u32> counters(static_cast<usize>(slots) * copies);
        for (u64 i = count / parts * part; i < end; i += most_of_u32) {
            std::fill(counters.begin(), counters.end(), 0u);
            count_into(keys + i, std::min(end - i, most_of_u32), counters.data(), copies == 1 ? 0 : slots);
            const std::lock_guard lock(adding);
            for (u32 copy = 0; copy < copies; ++copy) {
                for (u32 b = 0; b < buckets; ++b) result[b] += counters[copy * slots + b];
            }
        }
    });
}

template <class Key, class Bucket>
void count_by(const KeysToCount& input, const BucketsGiven& how, unsigned threads, const Bucket& bucket) {
    count_all(static_cast<const Key*>(input.keys), input.count, how.buckets, how.result, threads,
              [&](const Key* keys, u64 count, u32* counters, u32 stride) {
                  count_part(keys, count, counters, stride, bucket);
              });
}

template <class Description>
Description described(std::string_view bytes) {
    Description description;
    if (bytes.size() != sizeof(description)) throw std::invalid_argument("not a description of such buckets");
    std::memcpy(&description, bytes.data(), sizeof(description));
    return description;
}

template <class Key>
void histogram_of(const KeysToCount& input, const BucketsGiven& how, unsigned threads) {
    if (how.edges == nullptr) {
        const auto even = described<Even<Key>>(how.description);
        const u32 count = how.buckets;
        if (Even<Key>::by_shift(even)) {
            count_by<Key>(input, how, threads,
                          [&](Key key) { return Even<Key>::template part<true>(even, key, count); });
        } else {
            count_by<Key>(input, how, threads,
                          [&](Key key) { return Even<Key>::template part<false>(even, key, count); });
        }
        return;
    }
    const auto cells = described<Cells<Key>>(how.description);
    const auto* const edges = static_cast<const typename Cells<Key>::Wide*>(how.edges);
    std::vector<u32> words(cells.count + 1);
    for (u32 cell = 0; cell <= cells.count; ++cell) words[cell] = word_of_cell(cells, edges, cell);
    count_by<Key>(input, how, threads, [&](Key key) {
        const auto wide = Widened<Key>::of(key, cells.low);
        const Spot at = spot(cells, place(cells, wide));
        const u32 word = words[at.cell];
        if ((word & crowded) == 0) return (word + at.within) >> cells.fraction;
        return bucket_in_crowd(word, words[at.cell + 1], cells.fraction, edges, wide);
    });
}

void histogram_computed(const KeysToCount& input, const BucketsGiven& how, unsigned threads) {
    const Expression expression(how.description);
    const u32 buckets = how.buckets;
    count_all(static_cast<const u32*>(input.keys), input.count, buckets, how.result, threads,
              [&](const u32* keys, u64 count, u32* counters, u32 stride) {
                  Expression::Room room = expression.room();
                  for (u64 i = 0; i < count; i += Expression::piece) {
                      const usize some = std::min<u64>(count - i, Expression::piece);
                      const u32* const values = expression.of(keys + i, some, room);
                      count_part(values, some, counters, stride, [&](u32 value) { return at_most(value, buckets); });
                  }
              });
}

}  // namespace

void histogram(const KeysToCount& input, const BucketsGiven& how, unsigned threads) {
    if (how.computed && input.key == "u32") return histogram_computed(input, how, threads);
    if (input.key == "u8") return histogram_of<u8>(input, how, threads);
    if (input.key == "u16") return histogram_of<u16>(input, how, threads);
    if (input.key == "u32") return histogram_of<u32>(input, how, threads);
    if (input.key == "u64") return histogram_of<u64>(input, how, threads);
    if (input.key == "float") return histogram_of<float>(input, how, threads);
    if (input.key == "double") return histogram_of<double>(input, how, threads);
    throw std::invalid_argument("no such type of keys");
}

}  // namespace headrace
