// Sorts codes by quicksort that partitions a register at a time, down to pieces that a network sorts
// (sort_lanes.hpp). Each item moves about log2(n / 350) times, in place.
//
// A piece is partitioned in place: some registers are read from each of its ends and kept, which leaves room at both
// ends. From then on the end with less room is read, so each end always has room for a whole register, whatever its
// lanes hold. The registers that were kept come last. (Bramas 2017; four registers at a time.)
//
//   [ lower | room | not yet read | room | others ]
#pragma once

#include "arrange/sort/cpu/sort_kernels.hpp"
#include "arrange/sort/cpu/sort_lanes.hpp"

#if defined(HR_ISA_AVX512)

HR_BEGIN_NAMESPACE

// For each mask of 8 lanes: its lanes, then the others.
struct Parting {
    alignas(64) u8 of[256][8];
    constexpr Parting() : of{} {
        for (u32 mask = 0; mask < 256; ++mask) {
            u32 at = 0;
            for (u32 wanted = 0; wanted < 2; ++wanted) {
                for (u8 lane = 0; lane < 8; ++lane) {
                    if ((mask >> lane & 1) != wanted) of[mask][at++] = lane;
                }
            }
        }
    }
};
HR_CONSTANT Parting parting{};

HR_FN u32 steps_for(u64 n) { return n < 2 ? 0 : static_cast<u32>(2 * (64 - leading_zeros(n))); }

template <class T>
class QuickSort {
public:
    // Sorts items at `from` to `to`, which is the same memory or does not overlap.
    static void sort(T* from, T* to, u64 n) { sort_piece(from, to, {n, 0, false, steps_for(n)}); }

    // Runs one step, for threads that share the work: `piece` becomes the upper part, `lower` the lower part. Returns
    // whether the lower part is in order, since all its items are equal.
    static bool halve(T* items, QuickPiece& piece, QuickPiece& lower) {
        lower = piece;
        T pivot;
        const bool differ = choose(items, piece, pivot);
        const bool with_equal = piece.has_least && piece.least == pivot;
        if (differ) {
            lower.count = with_equal ? part<true>(items, piece.count, pivot) : part<false>(items, piece.count, pivot);
        }
        lower.steps = piece.steps;
        piece = {piece.count - lower.count, pivot, true, piece.steps};
        return with_equal || !differ;
    }

private:
    using L = LanesOf<T>;
    using Mask = typename L::Mask;
    static constexpr u64 lanes = L::count;
    static constexpr u64 steps = 4, step = steps * lanes;

    static bool choose(const T* items, QuickPiece& piece, T& pivot) {
        if (piece.steps == 0) return middle(items, piece.count, pivot);
        --piece.steps;
        pivot = from_sample(items, piece.count);
        return true;
    }

    static void sort_piece(T* from, T* to, QuickPiece piece) {
        while (piece.count > block_items<T>) {
            T pivot;
            if (!choose(from, piece, pivot)) break;  // all are equal
            // If nothing is below the pivot, the items equal to it form the lower part, and are in their place.
            const bool with_equal = piece.has_least && piece.least == pivot;
            const u64 lower = with_equal ? part<true>(from, piece.count, pivot) : part<false>(from, piece.count, pivot);
            if (with_equal) {
                move(from, to, lower);
            } else if (lower > 0) {
                sort_piece(from, to, {lower, piece.least, piece.has_least, piece.steps});
            }
            from += lower;
            to += lower;
            piece = {piece.count - lower, pivot, true, piece.steps};
        }
        if (piece.count > block_items<T>) return move(from, to, piece.count);
        if (piece.count > 0) sort_few(from, to, piece.count);
    }

    static void move(const T* from, T* to, u64 n) {
        if (from != to) __builtin_memcpy(to, from, n * sizeof(T));
    }

    // Position of the next lower item, and the end of that of the next other one.
    struct PartitionEnds {
        T* lower;
        T* others;
    };

    template <bool with_equal>
    HR_HOT Mask lower_of(__m512i x, __m512i pivots) {
        return with_equal ? L::up_to(x, pivots) : L::below(x, pivots);
    }

    template <bool with_equal>
    HR_HOT void put(PartitionEnds& ends, __m512i x, __m512i pivots) {
        const Mask is_lower = lower_of<with_equal>(x, pivots);
        const u64 found = static_cast<u64>(count_ones(is_lower));
        if constexpr (lanes == 8) {
            const auto* const places = reinterpret_cast<const __m128i*>(parting.of[is_lower]);
            const __m512i parted = L::moved(_mm512_cvtepu8_epi64(_mm_loadl_epi64(places)), x);
            store_any(ends.lower, parted);
            store_any(ends.others - lanes, parted);
            ends.others -= lanes - found;
        } else {
            store_any(ends.lower, L::packed(is_lower, x));
            ends.others -= lanes - found;
            L::store(ends.others, first_lanes<T>(lanes - found), L::packed(static_cast<Mask>(~is_lower), x));
        }
        ends.lower += found;
    }

    // Stores the first n lanes, and nothing after them.
    template <bool with_equal>
    HR_HOT void put_some(PartitionEnds& ends, __m512i x, __m512i pivots, u64 n) {
        const Mask there = first_lanes<T>(n);
        const Mask is_lower = static_cast<Mask>(lower_of<with_equal>(x, pivots) & there);
        const u64 found = static_cast<u64>(count_ones(is_lower));
        ends.others -= n - found;
        L::store(ends.lower, first_lanes<T>(found), L::packed(is_lower, x));
        L::store(ends.others, first_lanes<T>(n - found), L::packed(static_cast<Mask>(~is_lower & there), x));
        ends.lower += found;
    }

    HR_HOT void read(const T* from, __m512i* x) {
#pragma GCC unroll 4
        for (u64 k = 0; k < steps; ++k) x[k] = load_any(from + k * lanes);
    }

    // Moves items below the pivot (or equal to it) to the front, others after them. Returns the number of items in
    // front. n > 2 * step.
    template <bool with_equal>
    static u64 part(T* items, u64 n, T pivot) {
        const __m512i pivots = L::every(pivot);
        const u64 rest = n % step;
        T* left = items;
        T* right = items + (n - rest);
        __m512i tail[steps], first[steps], last[steps], x[steps];
        for (u64 k = 0; k < steps; ++k) {
            const u64 there = rest > k * lanes ? rest - k * lanes : 0;
            tail[k] = L::load(right + k * lanes, first_lanes<T>(there), pivots);
        }
        PartitionEnds ends{items, items + n};
        read(left, first);
        left += step;
        right -= step;
        read(right, last);
        while (left < right) {
            if (left - ends.lower <= ends.others - right) {
                read(left, x);
                left += step;
            } else {
                right -= step;
                read(right, x);
            }
#pragma GCC unroll 4
            for (u64 k = 0; k < steps; ++k) put<with_equal>(ends, x[k], pivots);
        }
        // The registers that were kept fill the room. The last two might overlap.
#pragma GCC unroll 4
        for (u64 k = 0; k < steps; ++k) put<with_equal>(ends, first[k], pivots);
        put<with_equal>(ends, last[0], pivots);
        put<with_equal>(ends, last[1], pivots);
        put_some<with_equal>(ends, last[2], pivots, lanes);
        put_some<with_equal>(ends, last[3], pivots, lanes);
        for (u64 k = 0; k * lanes < rest; ++k) {
            put_some<with_equal>(ends, tail[k], pivots, rest - k * lanes < lanes ? rest - k * lanes : lanes);
        }
        return static_cast<u64>(ends.lower - items);
    }

    static T from_sample(const T* items, u64 n) {
        return n < 4096 ? from_sample_of<16>(items, n) : from_sample_of<64>(items, n);
    }
    template <u64 number>
    static T from_sample_of(const T* items, u64 n) {
        T sample[number];
        const u64 step = n / number;
        for (u64 i = 0; i < number; ++i) sample[i] = items[i * step + step / 2];
        sort_few(sample, sample, number);
        return sample[number / 2];
    }

    // Computes the middle between the lowest and the highest item. Returns whether they differ.
    static bool middle(const T* items, u64 n, T& pivot) {
        __m512i least = load_any(items), most = least;
        for (u64 i = 0; i < n; i += lanes) {
            const __m512i x = load_any(items + (i + lanes <= n ? i : n - lanes));
            least = L::least(least, x);
            most = L::most(most, x);
        }
        T low[lanes], high[lanes];
        store_any(low, least);
        store_any(high, most);
        for (u64 i = 1; i < lanes; ++i) {
            low[0] = low[i] < low[0] ? low[i] : low[0];
            high[0] = high[i] > high[0] ? high[i] : high[0];
        }
        pivot = static_cast<T>(low[0] + (high[0] - low[0] + 1) / 2);
        return low[0] != high[0];
    }
};

HR_END_NAMESPACE

#endif
