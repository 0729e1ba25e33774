#include <algorithm>
#include <array>
#include <cstring>

#include "arrange/gather/widths.hpp"
#include "arrange/sort/cpu/shares.hpp"
#include "arrange/sort/sort_key.hpp"
#include "core/cpu/cache_blocks.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const SortKernels&(), sort_kernels)

const SortKernels& sort_kernels_at(Isa isa) { return sort_kernels_for(isa)(); }

namespace {

template <class Item>
void reverse(Item* items, u64 count, unsigned threads) {
    const Pieces pieces(count / 2, sizeof(Item));
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        Item* const first = items + pieces.begin(piece);
        Item* const last = items + count - pieces.begin(piece);
        for (u64 i = 0; i < pieces.size(piece); ++i) std::swap(first[i], last[-1 - static_cast<i64>(i)]);
    });
}

// Counts in four tables: consecutive keys are often equal, and a counter that was just written is slow to read.
template <class Bits>
void count_values(const Bits* keys, u64 n, u64* counts) {
    constexpr u64 values = u64{1} << (sizeof(Bits) * 8);
    constexpr u64 tables = sizeof(Bits) == 1 ? 4 : 1;
    std::vector<u32> own(values * tables);
    for (u64 first = 0; first < n;) {
        const u64 end = std::min(n, first + (u64{1} << 31));
        u64 i = first;
        for (; i + tables <= end; i += tables) {
            for (u64 table = 0; table < tables; ++table) ++own[table * values + keys[i + table]];
        }
        for (; i < end; ++i) ++own[keys[i]];
        first = end;
        for (u64 at = 0; at < values * tables; ++at) counts[at % values] += std::exchange(own[at], 0);
    }
}

template <class Bits>
void sort_counted(const SortedKeys& by, Bits* to, unsigned threads) {
    constexpr u64 values = u64{1} << (sizeof(Bits) * 8);
    KeyRule<Bits> rule;
    std::memcpy(&rule, by.rule, sizeof(rule));
    const Shares shares(by.count, threads, 1 << 24);  // each has counts of all values
    std::vector<u64> counts(shares.number * values);
    for_each_share(shares, threads, [&](u64 i) {
        count_values(static_cast<const Bits*>(by.keys) + shares.begin(i), shares.size(i), counts.data() + i * values);
    });
    std::vector<u64> ends(values + 1);
    for (u64 code = 0; code < values; ++code) {
        u64 found = 0;
        for (u64 i = 0; i < shares.number; ++i) found += counts[i * values + rule.key(static_cast<Bits>(code))];
        ends[code + 1] = ends[code] + found;
    }
    for_each_share(shares, threads, [&](u64 i) {
        const u64 begin = shares.begin(i), end = begin + shares.size(i);
        u64 code = static_cast<u64>(std::upper_bound(ends.begin(), ends.end(), begin) - ends.begin()) - 1;
        for (u64 at = begin; at < end; ++code) {
            const u64 until = std::min(end, ends[code + 1]);
            std::fill(to + at, to + until, rule.key(static_cast<Bits>(code)));
            at = until;
        }
    });
}

}  // namespace

void reverse_items(void* items, u64 count, unsigned width, unsigned threads) {
    with_width<u8, u16, u32, u64>(width, [&]<class Item>(Item) { reverse(static_cast<Item*>(items), count, threads); });
}

void sort_by_counting(const SortedKeys& by, void* to, const SortWith& how) {
    with_width<u8, u16>(by.width, [&]<class Bits>(Bits) { sort_counted(by, static_cast<Bits*>(to), how.threads); });
}

}  // namespace headrace
