#include <algorithm>
#include <vector>

#include "arrange/gather/widths.hpp"
#include "arrange/search/search_host.hpp"
#include "core/cpu/cache_blocks.hpp"

namespace headrace {
namespace {

// Searches that run side by side, so that their cache misses overlap.
constexpr u64 lanes = 16;

template <class Bits>
KeyRule<Bits> rule_of(const SortedKeys& keys) {
    return *static_cast<const KeyRule<Bits>*>(keys.rule);
}

// Sorted keys that are codes already.
template <class Bits>
struct CodesOfKeys {
    Bits equal_code(Bits code) const { return code; }
};

template <class Bits, class Rule>
struct Search {
    const Bits* sorted;
    u64 sorted_count;
    Rule sorted_rule;
    KeyRule<Bits> rule;
    SearchOptions options;

    void batch(const Bits* keys, u64 count, i64* positions) const {
        Bits wanted[lanes] = {};
        u64 low[lanes] = {};
        for (u64 lane = 0; lane < count; ++lane) wanted[lane] = rule.equal_code(keys[lane]);
        for (u64 length = sorted_count; length > 1; length -= length / 2) {
            for (u64 lane = 0; lane < lanes; ++lane) {
                low[lane] = halve(sorted, low[lane], length, wanted[lane], sorted_rule, options.after_equal);
            }
        }
        for (u64 lane = 0; lane < count; ++lane) {
            const bool is_after = sorted_count > 0 && is_before(sorted_rule.equal_code(sorted[low[lane]]), wanted[lane],
                                                                options.after_equal);
            positions[lane] = result_position(low[lane] + is_after, sorted_count, options);
        }
    }

    void all(const Bits* keys, u64 count, i64* positions, unsigned threads) const {
        const Pieces pieces(count, 64);  // a key moves about 8 bytes, and several lines of the sorted keys
        for_each_piece(pieces.number(), threads, [&](u64 piece) {
            const u64 end = pieces.begin(piece) + pieces.size(piece);
            for (u64 i = pieces.begin(piece); i < end; i += lanes) {
                batch(keys + i, std::min(lanes, end - i), positions + i);
            }
        });
    }
};

}  // namespace

void search_keys(const SortedKeys& sorted, const SortedKeys& keys, const SearchOptions& options, i64* positions,
                 unsigned threads) {
    with_width<u8, u16, u32, u64>(sorted.width, [&]<class Bits>(Bits) {
        const Bits* const from = static_cast<const Bits*>(sorted.keys);
        const Bits* const in = static_cast<const Bits*>(keys.keys);
        const KeyRule<Bits> rule = rule_of<Bits>(sorted);
        if (sorted.count > keys.count) {
            const Search<Bits, KeyRule<Bits>> search{from, sorted.count, rule, rule, options};
            return search.all(in, keys.count, positions, threads);
        }
        // Each sorted key is compared about once or more, so its code is computed before.
        std::vector<Bits> codes(sorted.count);
        for (u64 i = 0; i < sorted.count; ++i) codes[i] = rule.equal_code(from[i]);
        const Search<Bits, CodesOfKeys<Bits>> search{codes.data(), sorted.count, {}, rule, options};
        search.all(in, keys.count, positions, threads);
    });
}

void mark_runs(const SortedKeys& keys, u8* marks, unsigned threads) {
    with_width<u8, u16, u32, u64>(keys.width, [&]<class Bits>(Bits) {
        const Bits* const in = static_cast<const Bits*>(keys.keys);
        const KeyRule<Bits> rule = rule_of<Bits>(keys);
        const Pieces pieces(keys.count, sizeof(Bits));
        for_each_piece(pieces.number(), threads, [&](u64 piece) {
            const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
            for (u64 i = begin; i < end; ++i) marks[i] = begins_run(in, i, rule);
        });
    });
}

void count_integers(const SmallIntegers& integers, i64* counts) {
    std::fill_n(counts, integers.limit, 0);
    with_width<u8, u16, u32, u64>(integers.width, [&]<class Bits>(Bits) {
        const Bits* const in = static_cast<const Bits*>(integers.items);
        for (u64 i = 0; i < integers.count; ++i) ++counts[in[i]];
    });
}

void sum_weights(const SmallIntegers& integers, const double* weights, double* sums) {
    std::fill_n(sums, integers.limit, 0.0);
    with_width<u8, u16, u32, u64>(integers.width, [&]<class Bits>(Bits) {
        const Bits* const in = static_cast<const Bits*>(integers.items);
        for (u64 i = 0; i < integers.count; ++i) sums[in[i]] += weights[i];
    });
}

}  // namespace headrace
