// Finds the positions at which a periodic pattern may occur, by runs. A pattern of period p occurs at r only if
// text[i] == text[i + p] for all i from r to r + length - p. There is a bit for each such pair. For each word of bits,
// the last word up to it that has a bit not set is stored. So the check of any position takes constant time.
//
// Example: period 2, length 6. For the text "xababab" the pairs are 0 1 1 1 1. A run of 4 begins at position 1 only.
#pragma once
#include "gpu/block/byte_masks.cuh"
#include "query/find/gpu/text.cuh"

namespace headrace {

constexpr u32 max_pairs = 4096;  // of a pattern

// Pairs of a warp's part of the text, and of `max_pairs` positions after it.
template <u32 rows>
class Runs {
public:
    // `begin`: position of the part's first bit. Bit 0 is that of the aligned vector in which this position lies. All
    // lanes of a warp call it.
    HR_MEMBER void fill(const FindTask& task, i64 begin) {
        const u32 odd = odd_of(task);
        u32 last_broken = 0;
        const u32 count = (odd + rows * tile::lanes * 16 + pairs_of(task) + 31) / 32;
        u16* const halves = reinterpret_cast<u16*>(equal_);
        for (u32 first = 0; first < count; first += tile::lanes) {
#pragma unroll
            for (u32 half = 0; half < 2; ++half) {
                const u32 vector = first * 2 + half * tile::lanes + tile::lane();
                if (vector < count * 2) halves[vector] = static_cast<u16>(equal_pairs(task, begin - odd + vector * 16));
            }
            __syncwarp();
            const u32 word = first + tile::lane();
            const u32 broken = tile::scan_warp<Max<u32>>(word < count && equal_[word] != ~0u ? word + 1 : 0);
            const u32 upto = Max<u32>::join(last_broken, broken);
            if (word < count) broken_[word] = static_cast<u16>(upto);
            last_broken = tile::shuffle(upto, tile::lanes - 1);
        }
        __syncwarp();
    }

    // Whether one run has the pattern's pairs at each of 16 positions from bit `first` on.
    HR_MEMBER bool are_in_one_run(u32 first, const FindTask& task) const {
        return is_run(first + odd_of(task), 15 + pairs_of(task));
    }

    // Returns those of 16 positions, from bit `first` on, at which runs begin that are long enough.
    HR_MEMBER u32 in_runs(u32 hits, u32 first, const FindTask& task) const {
        u32 found = hits;
        for (u32 left = hits; left != 0; left &= left - 1) {
            const u32 bit = static_cast<u32>(trailing_zeros(left));
            if (!is_run(first + odd_of(task) + bit, pairs_of(task))) found &= ~(1u << bit);
        }
        __syncwarp();
        return found;
    }

private:
    static constexpr u32 words = (rows * tile::lanes * 16 + max_pairs) / 32 + 1;

    HR_MEMBER static u32 pairs_of(const FindTask& task) { return static_cast<u32>(task.length - task.period); }

    // Number of the part's first bit.
    HR_MEMBER static u32 odd_of(const FindTask& task) { return (0 - task.lead) % 16; }

    // Returns a bit for each of the 16 pairs from position `at` on, whose vector is aligned.
    HR_MEMBER static u32 equal_pairs(const FindTask& task, i64 at) {
        const i64 other = at + static_cast<i64>(task.period), size = static_cast<i64>(task.size);
        const bool is_inside = at >= 0 && other + 16 <= size;
        const uint4 one = folded(
            task, is_inside ? *reinterpret_cast<const uint4*>(task.text + at) : partial_vector(task.text, size, at));
        const uint4 next = folded(
            task, is_inside ? text_vector(task, static_cast<u64>(other)) : partial_vector(task.text, size, other));
        return tile::gather({{tile::equals(one.x ^ next.x, 0), tile::equals(one.y ^ next.y, 0),
                              tile::equals(one.z ^ next.z, 0), tile::equals(one.w ^ next.w, 0)}});
    }

    // Whether all of `count` bits from `first` on are set.
    HR_MEMBER bool is_run(u32 first, u32 count) const {
        const u32 last = first + count - 1;
        const u32 begin = first / 32, end = last / 32;
        const u32 from = ~0u << first % 32, upto = ~0u >> (31 - last % 32);
        if (begin == end) return (~equal_[begin] & from & upto) == 0;
        return (~equal_[begin] & from) == 0 && (~equal_[end] & upto) == 0 && broken_[end - 1] <= begin + 1;
    }

    u32 equal_[words];
    u16 broken_[words];  // number of the last word up to this one that has a bit that is not set, plus 1
};

}  // namespace headrace
