// Unsigned integers in AVX-512 registers, and a network that sorts a few registers.
//
// A block is R registers of N lanes: a matrix of R rows and N columns, sorted without a branch. First each column is
// sorted by Batcher's odd-even network (R / 2 comparators at a time, lanes in parallel). Then neighbouring columns
// are merged by bitonic networks to runs of 2, 4 .. N columns. Last, the matrix, whose columns now follow one
// another, is transposed. (Columns first as in Bramas 2017 and in the vectorised quicksort of Blacher, Giesen and
// Kühne 2022.)
//
// For 256 keys of 4 bytes, R = N = 16, these are 920 instructions, 3.6 a key. Blocks of 32 registers, some of which
// wait in the L1 cache, save a step of quicksort, which makes it 5 % faster; those of 64 make it slower.
#pragma once

#include "core/cpu/vectors.hpp"

#if defined(HR_ISA_AVX512)

HR_BEGIN_NAMESPACE

template <class T>
struct LanesOf;

#define HR_LANES_OF(T, bits, Letter)                                                                               \
    template <>                                                                                                    \
    struct LanesOf<T> {                                                                                            \
        using Mask = __mmask##Letter;                                                                              \
        static constexpr int count = 64 / sizeof(T);                                                               \
        HR_HOT __m512i every(T x) { return HR_SET1_##bits(x); }                                                    \
        HR_HOT __m512i least(__m512i a, __m512i b) { return _mm512_min_epu##bits(a, b); }                          \
        HR_HOT __m512i most(__m512i a, __m512i b) { return _mm512_max_epu##bits(a, b); }                           \
        HR_HOT __m512i max_where(__m512i other, Mask mask, __m512i a, __m512i b) {                                 \
            return _mm512_mask_max_epu##bits(other, mask, a, b);                                                   \
        }                                                                                                          \
        HR_HOT __m512i moved(__m512i by, __m512i a) { return _mm512_permutexvar_epi##bits(by, a); }                \
        HR_HOT __m512i moved(__m512i a, __m512i by, __m512i b) { return _mm512_permutex2var_epi##bits(a, by, b); } \
        HR_HOT __m512i packed(Mask mask, __m512i a) { return _mm512_maskz_compress_epi##bits(mask, a); }           \
        HR_HOT Mask below(__m512i a, __m512i b) { return _mm512_cmplt_epu##bits##_mask(a, b); }                    \
        HR_HOT Mask up_to(__m512i a, __m512i b) { return _mm512_cmple_epu##bits##_mask(a, b); }                    \
        HR_HOT __m512i load(const T* p, Mask mask, __m512i other) {                                                \
            return _mm512_mask_loadu_epi##bits(other, mask, p);                                                    \
        }                                                                                                          \
        HR_HOT void store(T* p, Mask mask, __m512i a) { _mm512_mask_storeu_epi##bits(p, mask, a); }                \
    };
// The maximum of two is a xor b xor minimum. So the one port of a core that computes minima has half as much to do.
#define HR_MOST_WHERE_16(least, mask, a, b) _mm512_mask_max_epu16(least, mask, a, b)
#define HR_MOST_WHERE_32(least, mask, a, b) _mm512_mask_ternarylogic_epi32(least, mask, a, b, 0x96)
#define HR_MOST_WHERE_64(least, mask, a, b) _mm512_mask_ternarylogic_epi64(least, mask, a, b, 0x96)
#define HR_SET1_16(x) _mm512_set1_epi16(static_cast<short>(x))
#define HR_SET1_32(x) _mm512_set1_epi32(static_cast<int>(x))
#define HR_SET1_64(x) _mm512_set1_epi64(static_cast<i64>(x))
HR_LANES_OF(u16, 16, 32)
HR_LANES_OF(u32, 32, 16)
HR_LANES_OF(u64, 64, 8)
#undef HR_LANES_OF
#undef HR_SET1_16
#undef HR_SET1_32
#undef HR_SET1_64
#undef HR_MOST_WHERE_16
#undef HR_MOST_WHERE_32
#undef HR_MOST_WHERE_64

HR_HOT __m512i load_any(const void* p) { return _mm512_loadu_si512(p); }
HR_HOT void store_any(void* p, __m512i a) { _mm512_storeu_si512(p, a); }

// Source lane of each lane.
template <class T>
struct SourceLanes {
    static constexpr int count = LanesOf<T>::count;
    alignas(64) T at[count];
    HR_HOT __m512i load(const SourceLanes& places) { return _mm512_load_si512(places.at); }
};

// Reverses each group: {1, 0, 3, 2} for groups of two.
template <class T, int group>
struct Mirrored : SourceLanes<T> {
    constexpr Mirrored() : SourceLanes<T>{} {
        for (int i = 0; i < this->count; ++i) this->at[i] = static_cast<T>(i ^ (group - 1));
    }
};
template <class T, int distance>
struct Swapped : SourceLanes<T> {
    constexpr Swapped() : SourceLanes<T>{} {
        for (int i = 0; i < this->count; ++i) this->at[i] = static_cast<T>(i ^ distance);
    }
};
// Interleaves lanes of two registers, from their lower or their upper halves.
template <class T, bool upper>
struct InTurns : SourceLanes<T> {
    constexpr InTurns() : SourceLanes<T>{} {
        for (int i = 0; i < this->count; ++i) {
            this->at[i] = static_cast<T>(i / 2 + (upper ? this->count / 2 : 0) + (i % 2) * this->count);
        }
    }
};
template <class Kind>
HR_CONSTANT Kind places_of{};

// Mask of the lanes with this bit in their number.
template <class T>
constexpr u64 lanes_with(int bit) {
    u64 mask = 0;
    for (int i = 0; i < LanesOf<T>::count; ++i) mask |= i & bit ? u64{1} << i : 0;
    return mask;
}

// The comparators of Batcher's odd-even mergesort for `rows` items (Knuth, volume 3, 5.2.2, algorithm M).
template <int rows>
struct Batcher {
    int number = 0;
    int low[rows * 6] = {};
    int high[rows * 6] = {};
    constexpr Batcher() {
        for (int p = 1; p < rows; p *= 2) {
            for (int k = p; k >= 1; k /= 2) {
                for (int j = k % p; j + k < rows; j += 2 * k) {
                    for (int i = j; i < j + k && i + k < rows; ++i) {
                        if (i / (2 * p) != (i + k) / (2 * p)) continue;
                        low[number] = i;
                        high[number++] = i + k;
                    }
                }
            }
        }
    }
};
template <int rows>
HR_CONSTANT Batcher<rows> batcher{};

template <class T, int rows>
struct LaneBlock {
    using L = LanesOf<T>;
    __m512i row[rows];

    HR_HOT void order(__m512i& a, __m512i& b) {
        const __m512i low = L::least(a, b);
        b = _mm512_ternarylogic_epi64(a, b, low, 0x96);
        a = low;
    }

    template <usize... i>
    HR_MEMBER void sort_columns(Indices<i...>) {
        (order(row[batcher<rows>.low[i]], row[batcher<rows>.high[i]]), ...);
    }

    // Compares lanes: those with `bit` in their number keep the larger item, others the smaller.
    template <int bit>
    HR_HOT __m512i compare_exchange(__m512i own, __m512i met) {
        return L::max_where(L::least(own, met), static_cast<typename L::Mask>(lanes_with<T>(bit)), own, met);
    }

    template <int distance>
    HR_MEMBER void merge_lanes() {
        if constexpr (distance > 0) {
            const __m512i places = SourceLanes<T>::load(places_of<Swapped<T, distance>>);
#pragma GCC unroll 32
            for (int i = 0; i < rows; ++i) row[i] = compare_exchange<distance>(row[i], L::moved(places, row[i]));
            merge_lanes<distance / 2>();
        }
    }
    template <int distance>
    HR_MEMBER void merge_rows() {
        if constexpr (distance > 0) {
#pragma GCC unroll 32
            for (int i = 0; i < rows; ++i) {
                if ((i & distance) == 0) order(row[i], row[i + distance]);
            }
            merge_rows<distance / 2>();
        }
    }

    // Merges runs of group / 2 columns to runs of `group`. The second run of each pair is compared backwards.
    template <int group>
    HR_MEMBER void merge_columns() {
        if constexpr (group <= L::count) {
            const __m512i places = SourceLanes<T>::load(places_of<Mirrored<T, group>>);
#pragma GCC unroll 32
            for (int i = 0; i < (rows + 1) / 2; ++i) {
                const __m512i low = row[i], high = row[rows - 1 - i];
                row[i] = compare_exchange<group / 2>(low, L::moved(places, high));
                if (rows > 1) row[rows - 1 - i] = compare_exchange<group / 2>(high, L::moved(places, low));
            }
            merge_lanes<group / 4>();
            merge_rows<rows / 2>();
            merge_columns<group * 2>();
        }
    }

    // Moves item (row, lane) to lane * rows + row: log2(rows) perfect shuffles of the block.
    template <int left>
    HR_MEMBER void transpose() {
        if constexpr (left > 1) {
            const __m512i lower = SourceLanes<T>::load(places_of<InTurns<T, false>>);
            const __m512i upper = SourceLanes<T>::load(places_of<InTurns<T, true>>);
            __m512i turned[rows];
#pragma GCC unroll 32
            for (int i = 0; i < rows / 2; ++i) {
                turned[2 * i] = L::moved(row[i], lower, row[i + rows / 2]);
                turned[2 * i + 1] = L::moved(row[i], upper, row[i + rows / 2]);
            }
#pragma GCC unroll 32
            for (int i = 0; i < rows; ++i) row[i] = turned[i];
            transpose<left / 2>();
        }
    }

    HR_MEMBER void sort() {
        sort_columns(typename IndicesBelow<static_cast<usize>(batcher<rows>.number)>::Type());
        merge_columns<2>();
        transpose<rows>();
    }
};

template <class T>
HR_HOT typename LanesOf<T>::Mask first_lanes(u64 n) {
    return static_cast<typename LanesOf<T>::Mask>(_bzhi_u64(~u64{0}, static_cast<unsigned>(n < 64 ? n : 64)));
}

// Sorts n <= rows * lanes items. The unused places of the block hold the largest value and stay at the end.
template <class T, int rows>
void sort_block(const T* from, T* to, u64 n) {
    using L = LanesOf<T>;
    constexpr u64 lanes = L::count;
    const __m512i largest = L::every(static_cast<T>(~T{0}));
    LaneBlock<T, rows> block;
#pragma GCC unroll 32
    for (u64 i = 0; i < rows; ++i) {
        block.row[i] = n >= (i + 1) * lanes ? load_any(from + i * lanes)
                       : n <= i * lanes     ? largest
                                            : L::load(from + i * lanes, first_lanes<T>(n - i * lanes), largest);
    }
    block.sort();
#pragma GCC unroll 32
    for (u64 i = 0; i < rows; ++i) {
        if (n >= (i + 1) * lanes) {
            store_any(to + i * lanes, block.row[i]);
        } else if (n > i * lanes) {
            L::store(to + i * lanes, first_lanes<T>(n - i * lanes), block.row[i]);
        }
    }
}

template <class T>
constexpr u64 block_items = 32 * LanesOf<T>::count;

template <class T>
void sort_few(const T* from, T* to, u64 n) {
    constexpr u64 lanes = LanesOf<T>::count;
    if (n <= lanes) return sort_block<T, 1>(from, to, n);
    if (n <= 2 * lanes) return sort_block<T, 2>(from, to, n);
    if (n <= 4 * lanes) return sort_block<T, 4>(from, to, n);
    if (n <= 8 * lanes) return sort_block<T, 8>(from, to, n);
    if (n <= 16 * lanes) return sort_block<T, 16>(from, to, n);
    sort_block<T, 32>(from, to, n);
}

HR_END_NAMESPACE

#endif
