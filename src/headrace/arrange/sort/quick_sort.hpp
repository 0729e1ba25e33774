// Codes in the order of their values, in cache: quicksort that parts a register at a time, down to pieces that a
// network sorts (sort_lanes.hpp). Each item is moved about log2(n / 180) times.
//
// There are two places for each item, at home and away, and a piece of items is in one of them. Parting it writes the
// lower ones home and the others away, each side one after the other; where the piece itself is, that overwrites what
// has been read. So the lower ones' home is the piece's, and what is free away, behind the others; the others' home is
// what is free there. Nothing is copied back, and a register is never written past the piece's end, though fewer lanes
// may be meant:
//
//   home  [ lower        | (free)      ]
//   away  [ others     | (free)        ]
#pragma once

#include "arrange/sort/sort_lanes.hpp"

#if defined(HR_ISA_AVX512)

HR_BEGIN_NAMESPACE

template <class T>
class QuickSort {
public:
    // Items are at `home`, or `away` where `is_home` is not set; the other place is as large.
    static void sort(T* home, T* away, u64 n, bool is_home) {
        const u64 halvings = n < 2 ? 0 : 64 - static_cast<u64>(leading_zeros(n));
        sort_piece({home, away, n, is_home, false, 0, static_cast<unsigned>(2 * halvings)});
    }

private:
    using L = LanesOf<T>;
    static constexpr u64 lanes = L::count;

    struct Piece {
        T* home;
        T* away;
        u64 count;
        bool is_home;
        bool has_least;  // no item is below `least`
        T least;
        unsigned
            steps;  // so many more by pivots from a sample; then by the middle of all values, at most one for each bit
    };

    static void sort_piece(Piece piece) {
        while (piece.count > block_items<T>) {
            const T* const items = piece.is_home ? piece.home : piece.away;
            T pivot;
            if (piece.steps > 0) {
                --piece.steps;
                pivot = from_sample(items, piece.count);
            } else if (!middle(items, piece.count, pivot)) {
                break;  // all are equal
            }
            // Where nothing is below the pivot, what equals it is a side of its own, and in its place.
            const bool with_equal = piece.has_least && piece.least == pivot;
            const u64 lower = with_equal ? part<true>(piece, pivot) : part<false>(piece, pivot);
            if (!with_equal && lower > 0) {
                sort_piece({piece.home, piece.away + (piece.count - lower), lower, true, piece.has_least, piece.least,
                            piece.steps});
            }
            piece = {piece.home + lower, piece.away, piece.count - lower, false, true, pivot, piece.steps};
        }
        if (piece.count <= block_items<T>) {
            if (piece.count > 0) sort_few(piece.is_home ? piece.home : piece.away, piece.home, piece.count);
        } else if (!piece.is_home) {
            __builtin_memcpy(piece.home, piece.away, piece.count * sizeof(T));
        }
    }

    // Items below the pivot (or up to it) home, the others away; returns how many are home.
    template <bool with_equal>
    static u64 part(const Piece& piece, T pivot) {
        const T* const items = piece.is_home ? piece.home : piece.away;
        const __m512i pivots = L::every(pivot);
        u64 lower = 0, others = 0, i = 0;
        for (; i + lanes <= piece.count; i += lanes) {
            const __m512i x = load_any(items + i);
            const auto is_lower = with_equal ? L::up_to(x, pivots) : L::below(x, pivots);
            const u64 found = static_cast<u64>(count_ones(is_lower));
            const auto is_other = static_cast<typename L::Mask>(~is_lower);
            store_any(piece.home + lower, L::packed(is_lower, x));
            store_any(piece.away + others, L::packed(is_other, x));
            lower += found;
            others += lanes - found;
        }
        const auto there = first_lanes<T>(piece.count - i);
        const __m512i x = L::load(items + i, there, pivots);
        const auto is_lower =
            static_cast<typename L::Mask>((with_equal ? L::up_to(x, pivots) : L::below(x, pivots)) & there);
        const auto is_other = static_cast<typename L::Mask>(~is_lower & there);
        const u64 found = static_cast<u64>(count_ones(is_lower));
        L::store(piece.home + lower, first_lanes<T>(found), L::packed(is_lower, x));
        L::store(piece.away + others, first_lanes<T>(piece.count - i - found), L::packed(is_other, x));
        return lower + found;
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

    // The middle between the least and the largest; says whether they differ.
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
