#include "arrange/histogram.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "core/pool.hpp"

namespace headrace {
namespace {

constexpr u64 least_part = 1 << 16;
constexpr u64 most_of_u32 = 1 << 30;
// Keys that follow each other are counted apart: an addition need not wait for the one before it.
constexpr u32 replicas = 4;
constexpr u32 most_replicated = 4096;
constexpr u32 cells = 4096;  // 16 KB

template <class Key, class Bucket>
void count_part(const Key* keys, u64 count, u32* counters, u32 stride, const Bucket& bucket) {
    u64 i = 0;
    for (; i + replicas <= count; i += replicas) {
        for (u32 r = 0; r < replicas; ++r) {
            const u32 b = bucket(keys[i + r]);
            if (b != no_bucket) ++counters[b + r * stride];
        }
    }
    for (; i < count; ++i) {
        const u32 b = bucket(keys[i]);
        if (b != no_bucket) ++counters[b];
    }
}

template <class Key, class Bucket>
void count_all(const Key* keys, u64 count, u32 buckets, u64* result, unsigned threads, const Bucket& bucket) {
    const unsigned parts = static_cast<unsigned>(std::clamp<u64>(count / least_part, 1, threads));
    const u32 copies = buckets <= most_replicated ? replicas : 1;
    std::mutex adding;
    run_parallel(parts, [&](unsigned part) {
        const u64 end = count / parts * (part + 1) + (part + 1 == parts ? count % parts : 0);
        std::vector<u32> counters(static_cast<usize>(buckets) * copies);
        for (u64 i = count / parts * part; i < end; i += most_of_u32) {
            std::fill(counters.begin(), counters.end(), 0u);
            count_part(keys + i, std::min(end - i, most_of_u32), counters.data(), copies == 1 ? 0 : buckets, bucket);
            const std::lock_guard lock(adding);
            for (usize b = 0; b < counters.size(); ++b) result[b % buckets] += counters[b];
        }
    });
}

template <class Key>
void histogram_of(const KeysToCount& input, const BucketsGiven& how, unsigned threads) {
    const auto* keys = static_cast<const Key*>(input.keys);
    Even<Key> even;
    if (how.even.size() != sizeof(even)) throw std::invalid_argument("not a description of even parts");
    std::memcpy(&even, how.even.data(), sizeof(even));
    std::fill(how.result, how.result + how.buckets, u64{0});
    if (how.edges == nullptr) {
        const u32 buckets = how.buckets;
        count_all(keys, input.count, buckets, how.result, threads,
                  [&](Key key) { return Even<Key>::part(even, key, buckets); });
        return;
    }
    const Key* const edges = static_cast<const Key*>(how.edges) + 1;
    std::vector<u32> words(cells);
    u32 before = 0;
    for (u32 cell = 0; cell < cells; ++cell) {
        const u32 after = edges_before_cell(even, cell + 1, cells, edges, how.buckets - 1);
        words[cell] = cell_word(before, after - before);
        before = after;
    }
    count_all(keys, input.count, how.buckets, how.result, threads, [&](Key key) {
        if (!Even<Key>::contains(even, key)) return no_bucket;
        return bucket_in_cell(words[Even<Key>::cell(even, key, cells)], key, edges);
    });
}

}  // namespace

void histogram(const KeysToCount& input, const BucketsGiven& how, unsigned threads) {
    if (input.key == "u32") return histogram_of<u32>(input, how, threads);
    if (input.key == "i32") return histogram_of<i32>(input, how, threads);
    if (input.key == "float") return histogram_of<float>(input, how, threads);
    throw std::invalid_argument("no such type of keys");
}

}  // namespace headrace
