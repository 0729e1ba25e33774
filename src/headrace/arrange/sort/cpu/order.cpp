// Sorts indices by keys. A code and the index of its key share one word; words are sorted as codes are, and stably,
// since no two are equal. Stehle and Jacobsen move pairs instead; a word of 8 bytes moves once for both. If code and
// index need more bits than a word, the lowest bits of the code are dropped. This takes 8-byte keys that vary in most
// of their bits. The few runs of words with equal codes are then sorted by the keys themselves.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "arrange/gather/widths.hpp"
#include "arrange/sort/cpu/shares.hpp"
#include "arrange/sort/sort_key.hpp"
#include "core/cpu/cache_blocks.hpp"
#include "core/cpu/vectors.hpp"

namespace headrace {
namespace {

constexpr std::array<u64, 4> as_they_are = {0, 0, 0, 0};
constexpr int digit_bits = 11;
constexpr unsigned counted_bits = 11;
constexpr u64 prefetch_distance = 24;  // items that are prefetched before they are read

const u8* key_at(const SortedKeys& by, u64 i) { return static_cast<const u8*>(by.keys) + i * by.width; }

KeysSeen look(const SortedKeys& by, const SortWith& how) {
    const SortKernels& kernels = sort_kernels_at(how.isa);
    const Shares shares(by.count, how.threads);
    std::vector<KeysSeen> seen(shares.number);
    for_each_share(shares, how.threads, [&](u64 i) {
        kernels.look[width_number(by.width)](key_at(by, shares.begin(i)), shares.size(i), by.rule, {.by_equal = true},
                                             &seen[i]);
    });
    return seen_together(seen);
}

template <class Bits>
struct CodeOf {
    const Bits* keys;
    KeyRule<Bits> rule;

    explicit CodeOf(const SortedKeys& by) : keys(static_cast<const Bits*>(by.keys)) {
        std::memcpy(&rule, by.rule, sizeof(rule));
    }
    u64 operator()(u64 i) const { return rule.equal_code(keys[i]); }
};

// Returns where the first run of each share begins, and the number of words after them. A run is a sequence of words
// that agree above the indices; it belongs to the share in which it begins. A share in which no run begins has the
// begin of the next one.
template <class Agree>
std::vector<u64> run_begins(const Shares& shares, unsigned threads, const Agree& agree) {
    std::vector<u64> begins(shares.number + 1, shares.count);
    for_each_share(shares, threads, [&](u64 share) {
        u64 i = shares.begin(share);
        const u64 end = i + shares.size(share);
        while (i > 0 && i < end && agree(i)) ++i;
        if (i < end) begins[share] = i;
    });
    for (u64 share = shares.number; share > 0; --share) begins[share - 1] = std::min(begins[share - 1], begins[share]);
    return begins;
}

// Sorts each run by its keys. A thread reads and writes only the words of its shares' runs.
template <class Bits>
void sort_runs(const SortedKeys& by, u64* order, unsigned index_bits, unsigned threads) {
    const CodeOf<Bits> code(by);
    const u64 numbers = (u64{1} << index_bits) - 1;
    const auto agree = [&](u64 i) { return (order[i] ^ order[i - 1]) >> index_bits == 0; };
    const auto before = [&](u64 a, u64 b) {
        const u64 x = code(a & numbers), y = code(b & numbers);
        return x < y || (x == y && a < b);
    };
    const Shares shares(by.count, threads);
    const std::vector<u64> begins = run_begins(shares, threads, agree);
    for_each_share(shares, threads, [&](u64 share) {
        const u64 end = begins[share + 1];
        for (u64 i = begins[share]; i < end;) {
            u64 end_of_run = i + 1;
            while (end_of_run < end && agree(end_of_run)) ++end_of_run;
            if (end_of_run - i > 1) std::sort(order + i, order + end_of_run, before);
            i = end_of_run;
        }
    });
}

template <class Item>
void take(const u64* order, u64 numbers, u64 n, const MovedItems& items, u64 first) {
    const auto* const from = static_cast<const Item*>(items.from);
    auto* const to = static_cast<Item*>(items.to) + first;
    for (u64 i = 0; i < n; ++i) {
        if (i + prefetch_distance < n) __builtin_prefetch(from + (order[i + prefetch_distance] & numbers));
        put_item(to + i, item_at(from + (order[i] & numbers)));
    }
}

template <class Item>
void put(const u64* order, u64 numbers, u64 n, const MovedItems& items, u64 first) {
    auto* const to = static_cast<Item*>(items.to) + first;
    for (u64 i = 0; i < n; ++i) to[i] = static_cast<Item>(order[i] & numbers);
}

// If so few bits of codes vary that one digit has them all: counts the digit, then writes indices to their positions.
void number_by_digit(const SortedKeys& by, KeyDigit digit, u64* order, const SortWith& how) {
    const SortKernels& kernels = sort_kernels_at(how.isa);
    const usize kind = width_number(by.width);
    const Shares shares(by.count, how.threads);
    const u64 digits = digit.mask + 1;
    std::vector<u64> counts(shares.number * digits);
    for_each_share(shares, how.threads, [&](u64 i) {
        KeysSeen seen;
        const KeyLook look{.by_equal = true, .counts = counts.data() + i * digits, .digit = digit};
        kernels.look[kind](key_at(by, shares.begin(i)), shares.size(i), by.rule, look, &seen);
    });
    scan_shares(counts, shares.number, digits);
    for_each_share(shares, how.threads, [&](u64 i) {
        const u64 first = shares.begin(i);
        kernels.number[kind](key_at(by, first), shares.size(i), by.rule, digit, counts.data() + i * digits, first,
                             order);
    });
}

}  // namespace

// Checks pieces in parallel, and stops once one is out of order.
bool is_in_order(const SortedKeys& by, const SortWith& how) {
    if (by.count < 2) return true;
    const SortKernels& kernels = sort_kernels_at(how.isa);
    const Pieces pieces(by.count, by.width);
    std::vector<KeysSeen> seen(pieces.number());
    std::atomic<bool> rises{true};
    for_each_piece(pieces.number(), how.threads, [&](u64 i) {
        if (!rises.load(std::memory_order_relaxed)) return;
        kernels.look[width_number(by.width)](key_at(by, pieces.begin(i)), pieces.size(i), by.rule, {.by_equal = true},
                                             &seen[i]);
        if (!seen[i].rises) rises.store(false, std::memory_order_relaxed);
    });
    return rises && seen_together(seen).rises;
}

unsigned sort_order(const SortedKeys& by, u64* order, u64* spare, const SortWith& how) {
    const unsigned index_bits = std::max(1, static_cast<int>(std::bit_width(by.count == 0 ? 0 : by.count - 1)));
    if (by.count == 0) return index_bits;
    const SortKernels& kernels = sort_kernels_at(how.isa);
    const KeysSeen seen = look(by, how);
    const unsigned bits = seen.rises ? 0 : static_cast<unsigned>(std::bit_width(seen.any ^ seen.all));
    const u64 span = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
    const KeyPacking packing{span, bits + index_bits > 64 ? bits + index_bits - 64 : 0, index_bits};
    if (!seen.rises && bits <= counted_bits) {
        number_by_digit(by, {0, (1u << bits) - 1}, order, how);
        return index_bits;
    }
    const Shares shares(by.count, how.threads);
    for_each_share(shares, how.threads, [&](u64 i) {
        const u64 first = shares.begin(i);
        kernels.pack[width_number(by.width)](key_at(by, first), shares.size(i), by.rule, packing, first, order + first);
    });
    if (seen.rises) return index_bits;
    const SortedKeys words{order, by.count, 8, as_they_are.data()};
    sort_words(words, order, spare, how, static_cast<int>(index_bits));
    if (packing.drop == 0) return index_bits;
    if (by.width == 8) sort_runs<u64>(by, order, index_bits, how.threads);
    if (by.width == 4) sort_runs<u32>(by, order, index_bits, how.threads);
    return index_bits;
}

// Finds the last of the k keys digit by digit of its equal code, from the highest bits that vary. Each step counts the
// keys that agree with the digits already found.
void find_first(const SortedKeys& by, u64 k, u64* found, const SortWith& how) {
    if (k == 0) return;
    const SortKernels& kernels = sort_kernels_at(how.isa);
    const usize kind = width_number(by.width);
    const Shares shares(by.count, how.threads);
    const KeysSeen seen = look(by, how);
    int left = static_cast<int>(std::bit_width(seen.any ^ seen.all));
    u64 prefix = left == 64 ? 0 : seen.all >> left << left, wanted = k;
    while (left > 0) {
        const int bits = std::min(left, digit_bits);
        const KeyDigit digit{static_cast<u32>(left - bits), (1u << bits) - 1};
        const u64 prefix_mask = left == 64 ? 0 : ~u64{0} << left, digits = digit.mask + 1;
        std::vector<u64> counts(shares.number * digits);
        for_each_share(shares, how.threads, [&](u64 i) {
            kernels.count_among[kind](key_at(by, shares.begin(i)), shares.size(i), by.rule, prefix, prefix_mask, digit,
                                      counts.data() + i * digits);
        });
        const std::vector<u64> begins = scan_shares(counts, shares.number, digits);
        const u64 chosen =
            static_cast<u64>(std::lower_bound(begins.begin(), begins.end(), wanted) - begins.begin()) - 1;
        wanted -= begins[chosen];
        prefix |= chosen << digit.shift;
        left -= bits;
    }
    // All keys below `prefix`, and `wanted` of those that equal it.
    std::vector<u64> below(shares.number), up_to(shares.number);
    for_each_share(shares, how.threads, [&](u64 i) {
        const u8* const keys = key_at(by, shares.begin(i));
        below[i] = kernels.collect[kind](keys, shares.size(i), by.rule, prefix, 0, 0, nullptr);
        up_to[i] = kernels.collect[kind](keys, shares.size(i), by.rule, prefix, ~u64{0}, 0, nullptr);
    });
    std::vector<u64> places(shares.number), equals(shares.number);
    u64 at = 0;
    for (u64 i = 0; i < shares.number; ++i) {
        equals[i] = std::min(wanted, up_to[i] - below[i]);
        wanted -= equals[i];
        places[i] = at;
        at += below[i] + equals[i];
    }
    for_each_share(shares, how.threads, [&](u64 i) {
        if (below[i] + equals[i] == 0) return;
        kernels.collect[kind](key_at(by, shares.begin(i)), shares.size(i), by.rule, prefix, equals[i], shares.begin(i),
                              found + places[i]);
    });
}

void take_in_order(const u64* order, unsigned index_bits, u64 count, const MovedItems& items, unsigned threads) {
    using Take = void (*)(const u64*, u64, u64, const MovedItems&, u64);
    constexpr std::array<Take, 5> takes = {take<u8>, take<u16>, take<u32>, take<u64>, take<Item16>};
    constexpr std::array<Take, 4> puts = {put<u8>, put<u16>, put<u32>, put<u64>};
    const usize kind = static_cast<usize>(std::countr_zero(items.width));
    if (!std::has_single_bit(items.width) || kind >= (items.from == nullptr ? puts.size() : takes.size())) {
        throw std::invalid_argument("no such width");
    }
    const Take one = items.from == nullptr ? puts[kind] : takes[kind];
    const u64 numbers = (u64{1} << index_bits) - 1;
    const Shares shares(count, threads);
    for_each_share(shares, threads,
                   [&](u64 i) { one(order + shares.begin(i), numbers, shares.size(i), items, shares.begin(i)); });
}

}  // namespace headrace
