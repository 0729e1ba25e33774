#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>

#include "arrange/search/search_host.hpp"
#include "core/cpu/cache_blocks.hpp"

namespace headrace {
namespace {

// Searches that run side by side, so that their cache misses overlap.
constexpr u64 lanes = 16;

// Number of counters up to which each thread has private ones.
constexpr u64 max_private_counters = u64{1} << 15;

template <class Bits>
KeyRule<Bits> rule_of(const SortedKeys& keys) {
    return *static_cast<const KeyRule<Bits>*>(keys.rule);
}

// Calls work(Bits{}) with the unsigned type of a width.
template <class Work>
void with_width(unsigned width, const Work& work) {
    if (width == 1) return work(u8{});
    if (width == 2) return work(u16{});
    if (width == 4) return work(u32{});
    if (width == 8) return work(u64{});
    throw std::invalid_argument("no such width of keys");
}

template <class Bits>
void search_batch(const SortedKeys& sorted, const Bits* keys, u64 count, const SearchOptions& options, i64* positions) {
    const Bits* const in = static_cast<const Bits*>(sorted.keys);
    const KeyRule<Bits> rule = rule_of<Bits>(sorted);
    Bits wanted[lanes] = {};
    u64 low[lanes] = {};
    for (u64 lane = 0; lane < count; ++lane) wanted[lane] = rule.equal_code(keys[lane]);
    for (u64 length = sorted.count; length > 1; length -= length / 2) {
        for (u64 lane = 0; lane < lanes; ++lane) {
            low[lane] = halve(in, low[lane], length, wanted[lane], rule, options.after_equal);
        }
    }
    for (u64 lane = 0; lane < count; ++lane) {
        const bool is_after =
            sorted.count > 0 && is_before(rule.equal_code(in[low[lane]]), wanted[lane], options.after_equal);
        positions[lane] = result_position(low[lane] + is_after, sorted.count, options);
    }
}

template <class Bits>
void count_shared(const SmallIntegers& integers, i64* counts, unsigned threads) {
    const Bits* const in = static_cast<const Bits*>(integers.items);
    const Pieces pieces(integers.count, sizeof(Bits));
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 i = begin; i < end; ++i) std::atomic_ref(counts[in[i]]).fetch_add(1, std::memory_order_relaxed);
    });
}

template <class Bits>
void count_plain(const Bits* in, u64 count, i64* counts) {
    for (u64 i = 0; i < count; ++i) ++counts[in[i]];
}

template <class Bits>
void count_apart(const SmallIntegers& integers, i64* counts, unsigned threads) {
    const Bits* const in = static_cast<const Bits*>(integers.items);
    const Pieces pieces(integers.count, sizeof(Bits));
    for_each_piece(
        pieces.number(), threads, [&] { return std::make_unique<i64[]>(integers.limit); },
        [&](const std::unique_ptr<i64[]>& own, u64 piece) {
            count_plain(in + pieces.begin(piece), pieces.size(piece), own.get());
        },
        [&](const std::unique_ptr<i64[]>& own) {
            for (u64 i = 0; i < integers.limit; ++i) {
                std::atomic_ref(counts[i]).fetch_add(own[i], std::memory_order_relaxed);
            }
        });
}

}  // namespace

void search_keys(const SortedKeys& sorted, const SortedKeys& keys, const SearchOptions& options, i64* positions,
                 unsigned threads) {
    with_width(sorted.width, [&]<class Bits>(Bits) {
        const Bits* const in = static_cast<const Bits*>(keys.keys);
        const Pieces pieces(keys.count, 64);  // a key moves about 8 bytes, and several lines of the sorted keys
        for_each_piece(pieces.number(), threads, [&](u64 piece) {
            const u64 end = pieces.begin(piece) + pieces.size(piece);
            for (u64 i = pieces.begin(piece); i < end; i += lanes) {
                search_batch(sorted, in + i, std::min(lanes, end - i), options, positions + i);
            }
        });
    });
}

void mark_runs(const SortedKeys& keys, u8* marks, unsigned threads) {
    with_width(keys.width, [&]<class Bits>(Bits) {
        const Bits* const in = static_cast<const Bits*>(keys.keys);
        const KeyRule<Bits> rule = rule_of<Bits>(keys);
        const Pieces pieces(keys.count, sizeof(Bits));
        for_each_piece(pieces.number(), threads, [&](u64 piece) {
            const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
            for (u64 i = begin; i < end; ++i) marks[i] = begins_run(in, i, rule);
        });
    });
}

void count_integers(const SmallIntegers& integers, i64* counts, unsigned threads) {
    std::fill_n(counts, integers.limit, 0);
    with_width(integers.width, [&]<class Bits>(Bits) {
        if (integers.limit <= max_private_counters) {
            count_apart<Bits>(integers, counts, threads);
        } else if (threads > 1) {
            count_shared<Bits>(integers, counts, threads);
        } else {
            count_plain(static_cast<const Bits*>(integers.items), integers.count, counts);
        }
    });
}

void sum_weights(const SmallIntegers& integers, const double* weights, double* sums) {
    std::fill_n(sums, integers.limit, 0.0);
    with_width(integers.width, [&]<class Bits>(Bits) {
        const Bits* const in = static_cast<const Bits*>(integers.items);
        for (u64 i = 0; i < integers.count; ++i) sums[in[i]] += weights[i];
    });
}

}  // namespace headrace
