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

// Words of a text at any address, of which each aligned word is read once.
class WordStream {
public:
    __device__ __forceinline__ explicit WordStream(const u8* from)
        : shift_(static_cast<u32>(reinterpret_cast<u64>(from) & 3) * 8),
          at_(reinterpret_cast<const u32*>(from - shift_ / 8)),
          word_(*at_) {}

    __device__ __forceinline__ u32 next() {
        const u32 before = word_;
        word_ = *++at_;
        return __funnelshift_r(before, word_, shift_);
    }

private:
    u32 shift_;
    const u32* at_;
    u32 word_;
};

// Pairs of a warp's part of the text, and of `max_pairs` positions after it.
template <u32 rows>
class Runs {
public:
    // `begin`: position of bit 0. All lanes of a warp call it.
    __device__ __forceinline__ void fill(const FindTask& task, i64 begin) {
        u32 last_broken = 0;
        const u32 count = (rows * tile::lanes * 16 + pairs_of(task) + 31) / 32;
        for (u32 first = 0; first < count; first += tile::lanes) {
            const u32 word = first + tile::lane();
            u32 bits = 0;
            if (word < count) {
                bits = equal_pairs(task, begin + word * 32);
                equal_[word] = bits;
            }
            const u32 broken = tile::scan_warp<Max<u32>>(word < count && bits != ~0u ? word + 1 : 0);
            const u32 upto = Max<u32>::join(last_broken, broken);
            if (word < count) broken_[word] = static_cast<u16>(upto);
            last_broken = tile::shuffle(upto, tile::lanes - 1);
        }
        __syncwarp();
    }

    // Whether one run has the pattern's pairs at each of 16 positions from bit `first` on.
    __device__ __forceinline__ bool are_in_one_run(u32 first, const FindTask& task) const {
        return is_run(first, first + 15 + pairs_of(task) - 1);
    }

    // Returns those of 16 positions, from bit `first` on, at which runs begin that are long enough.
    __device__ __forceinline__ u32 in_runs(u32 hits, u32 first, const FindTask& task) const {
        u32 found = hits;
        for (u32 left = hits; left != 0; left &= left - 1) {
            const u32 bit = static_cast<u32>(trailing_zeros(left));
            if (!is_run(first + bit, first + bit + pairs_of(task) - 1)) found &= ~(1u << bit);
        }
        __syncwarp();
        return found;
    }

private:
    static constexpr u32 words = (rows * tile::lanes * 16 + max_pairs) / 32;

    static __device__ __forceinline__ u32 pairs_of(const FindTask& task) {
        return static_cast<u32>(task.length - task.period);
    }

    static __device__ __forceinline__ u32 word_at(const FindTask& task, i64 at) {
        if (at >= 0) return static_cast<u64>(at) < task.size ? text_word(task, static_cast<u64>(at)) : 0;
        return partial_vector(task.text, static_cast<i64>(task.size), at).x;
    }

    // Returns a bit for each of the 32 pairs from position `at` on.
    static __device__ __forceinline__ u32 equal_pairs(const FindTask& task, i64 at) {
        const i64 other = at + static_cast<i64>(task.period);
        u32 equal = 0;
        if (at >= 4 && static_cast<u64>(other) + 40 <= task.size) {
            WordStream ones(task.text + at), others(task.text + other);
#pragma unroll
            for (u32 i = 0; i < 32; i += 4) equal |= equal_bytes(task, ones.next(), others.next()) << i;
        } else {
            for (u32 i = 0; i < 32; i += 4)
                equal |= equal_bytes(task, word_at(task, at + i), word_at(task, other + i)) << i;
        }
        return equal;
    }

    static __device__ __forceinline__ u32 equal_bytes(const FindTask& task, u32 one, u32 other) {
        return tile::gathered(tile::equals(folded(task, one) ^ folded(task, other), 0));
    }

    // Whether all bits from `first` to `last` are set.
    __device__ __forceinline__ bool is_run(u32 first, u32 last) const {
        const u32 begin = first / 32, end = last / 32;
        const u32 from = ~0u << first % 32, upto = ~0u >> (31 - last % 32);
        if (begin == end) return (~equal_[begin] & from & upto) == 0;
        return (~equal_[begin] & from) == 0 && (~equal_[end] & upto) == 0 && broken_[end - 1] <= begin + 1;
    }

    u32 equal_[words];
    u16 broken_[words];  // number of the last word up to this one that has a bit that is not set, plus 1
};

}  // namespace headrace
