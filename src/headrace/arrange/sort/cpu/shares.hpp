// Divides keys into shares for threads, and combines what is known of each share.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <stdexcept>
#include <utility>
#include <vector>

#include "arrange/sort/cpu/sort.hpp"
#include "arrange/sort/cpu/sort_kernels.hpp"
#include "core/cpu/cache_blocks.hpp"

namespace headrace {

struct alignas(line_bytes) Line {
    u8 bytes[line_bytes];
};

// Number of 2-byte keys from which counting all 65,536 values costs less than sorting.
constexpr u64 counted_from = u64{1} << 20;

const SortKernels& sort_kernels_at(Isa isa);

inline usize width_number(unsigned width) {
    if (!std::has_single_bit(width) || width > 8) throw std::invalid_argument("no such width of keys");
    return static_cast<usize>(std::countr_zero(width));
}

// Consecutive keys that one thread takes at a time. There are several shares a thread, so that a slow thread gets
// fewer. A share takes at most some 50 ms, so that an interrupt need not wait.
struct Shares {
    u64 count;
    u64 length;
    u64 number;

    Shares(u64 keys, unsigned threads, u64 most = 1 << 22) : count(keys) {
        constexpr u64 least = 1 << 14, of_thread = 4;
        const u64 balanced = threads == 1 ? 1 : std::min(threads * of_thread, (keys + least - 1) / least);
        const u64 wanted = std::max(balanced, (keys + most - 1) / most);
        length = wanted == 0 ? 0 : (keys + wanted - 1) / wanted;
        number = length == 0 ? 0 : (keys + length - 1) / length;
    }
    u64 begin(u64 share) const { return share * length; }
    u64 size(u64 share) const { return std::min(length, count - begin(share)); }
};

template <class Work>
void for_each_share(const Shares& shares, unsigned threads, const Work& work) {
    std::atomic<u64> next{0};
    run_parallel(static_cast<unsigned>(std::clamp<u64>(shares.number, 1, threads)),
                 [&](unsigned) { take_each(next, shares.number, work); });
}

inline KeysSeen seen_together(const std::vector<KeysSeen>& seen) {
    KeysSeen all = seen.front();
    for (usize i = 1; i < seen.size(); ++i) {
        all.any |= seen[i].any;
        all.all &= seen[i].all;
        all.rises = all.rises && seen[i].rises && all.last <= seen[i].first;
        all.falls = all.falls && seen[i].falls && all.last >= seen[i].first;
        all.last = seen[i].last;
    }
    return all;
}

// Replaces the counts of shares by the first position of each share's items of each digit. Returns the begin of each
// digit, and the end.
inline std::vector<u64> scan_shares(std::vector<u64>& counts, u64 shares, u64 digits) {
    std::vector<u64> begins(digits + 1);
    u64 at = 0;
    for (u64 digit = 0; digit < digits; ++digit) {
        begins[digit] = at;
        for (u64 share = 0; share < shares; ++share) at += std::exchange(counts[share * digits + digit], at);
    }
    begins[digits] = at;
    return begins;
}

void reverse_items(void* items, u64 count, unsigned width, unsigned threads);

// Sorts as sort_keys, keys of at least 2 bytes. The lowest `ordered` bits of codes ascend with their positions.
void sort_words(const SortedKeys& by, void* to, void* spare, const SortWith& how, int ordered);

// Sorts keys of one byte, and many keys of two: each value is written as often as it was counted.
void sort_by_counting(const SortedKeys& by, void* to, const SortWith& how);

}  // namespace headrace
