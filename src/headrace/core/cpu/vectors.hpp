// Wraps a vector register of items for the translation unit's instruction set: 64 bytes with AVX-512, 32 with AVX2,
// else 16. The compiler's vector types have arithmetic, comparison and `?:` lane by lane. This header adds unaligned
// loads and stores, streaming stores, and moves across lanes.
#pragma once

#include "core/cpu/portable.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

HR_BEGIN_NAMESPACE

#if defined(HR_ISA_AVX512)
constexpr usize vector_bytes = 64;
#elif defined(HR_ISA_AVX2)
constexpr usize vector_bytes = 32;
#else
constexpr usize vector_bytes = 16;
#endif

template <class T>
struct VectorOf {
    typedef T Type __attribute__((vector_size(vector_bytes)));
    typedef T Anywhere __attribute__((vector_size(vector_bytes), aligned(1), may_alias));
};

template <class T>
using Vector = typename VectorOf<T>::Type;

// Result of a comparison: lanes of all ones or zeros.
template <class T>
using Lanes = decltype(Vector<T>() == Vector<T>());

template <class T>
constexpr usize lanes = vector_bytes / sizeof(T);

template <class T>
HR_HOT Vector<T> load(const T* p) {
    return *reinterpret_cast<const typename VectorOf<T>::Anywhere*>(p);
}

template <class T>
HR_HOT void store(T* p, Vector<T> v) {
    *reinterpret_cast<typename VectorOf<T>::Anywhere*>(p) = v;
}

// Store past the cache, which saves reading the line that is overwritten. `p` must be aligned to a vector. Other
// threads see the store after stream_end.
template <class T>
HR_HOT void stream(T* p, Vector<T> v) {
#if defined(HR_ISA_AVX512)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(p), bits_as<__m512i>(v));
#elif defined(HR_ISA_AVX2)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p), bits_as<__m256i>(v));
#elif defined(__SSE2__)
    _mm_stream_si128(reinterpret_cast<__m128i*>(p), bits_as<__m128i>(v));
#else
    store(p, v);
#endif
}

HR_FN void stream_end() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

// Prefetch the line one page further on. The hardware prefetcher does not cross pages, nor look far enough ahead to
// keep memory busy during computation. With this a scan is as fast as a copy; without it, a quarter slower.
HR_HOT void read_ahead(const void* p) { __builtin_prefetch(static_cast<const u8*>(p) + 4096); }

// Return the item at an unaligned address.
template <class T>
HR_HOT T item_at(const T* p) {
    T item;
    __builtin_memcpy(&item, p, sizeof(T));
    return item;
}

template <class T>
HR_HOT void put_item(T* p, T item) {
    __builtin_memcpy(p, &item, sizeof(T));
}

template <usize... i>
struct Indices {};

template <usize n, usize... i>
struct IndicesBelow : IndicesBelow<n - 1, n - 1, i...> {};

template <usize... i>
struct IndicesBelow<0, i...> {
    using Type = Indices<i...>;
};

template <int lane, class V, usize... i>
HR_HOT V lane_everywhere(V v, Indices<i...>) {
    return __builtin_shufflevector(v, v, (lane + 0 * static_cast<int>(i))...);
}

template <class T>
HR_HOT Vector<T> broadcast(T item) {
    return lane_everywhere<0>(Vector<T>{item}, typename IndicesBelow<lanes<T>>::Type());
}

template <class T>
HR_HOT Vector<T> last_everywhere(Vector<T> v) {
    return lane_everywhere<static_cast<int>(lanes<T>) - 1>(v, typename IndicesBelow<lanes<T>>::Type());
}

template <int by, class V, usize... i>
HR_HOT V moved_up(V low, V high, Indices<i...>) {
    return __builtin_shufflevector(low, high, (static_cast<int>(sizeof...(i) + i) - by)...);
}

// Return the lanes of `high` moved up by `by`, with the free lanes filled with the last ones of `low`. Example:
// `moved_up<1>({a, b, c, d}, {e, f, g, h}) == {d, e, f, g}`.
template <int by, class T>
HR_HOT Vector<T> moved_up(Vector<T> low, Vector<T> high) {
    return moved_up<by>(low, high, typename IndicesBelow<lanes<T>>::Type());
}

// Return the products of the even lanes. For those of the odd lanes, shift the operands down by 32 bits first.
HR_HOT Vector<u64> multiply_even(Vector<u64> a, Vector<u64> b) {
#if defined(HR_ISA_AVX512)
    return bits_as<Vector<u64>>(_mm512_mul_epu32(bits_as<__m512i>(a), bits_as<__m512i>(b)));
#elif defined(HR_ISA_AVX2)
    return bits_as<Vector<u64>>(_mm256_mul_epu32(bits_as<__m256i>(a), bits_as<__m256i>(b)));
#elif defined(__SSE2__)
    return bits_as<Vector<u64>>(_mm_mul_epu32(bits_as<__m128i>(a), bits_as<__m128i>(b)));
#else
    return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
#endif
}

// Gather items of 4 bytes at the lanes' indices; -1 is the item before the first.
template <class T>
HR_HOT Vector<T> gather_words(const T* items, Vector<u32> indices) {
    static_assert(sizeof(T) == 4);
#if defined(HR_ISA_AVX512)
    return bits_as<Vector<T>>(_mm512_i32gather_epi32(bits_as<__m512i>(indices), items, 4));
#elif defined(HR_ISA_AVX2)
    return bits_as<Vector<T>>(
        _mm256_i32gather_epi32(reinterpret_cast<const int*>(items), bits_as<__m256i>(indices), 4));
#else
    Vector<T> found = {};
    for (usize lane = 0; lane < lanes<T>; ++lane) found[lane] = item_at(items + static_cast<i32>(indices[lane]));
    return found;
#endif
}

template <class V>
HR_HOT bool any(V mask) {
    u64 words[vector_bytes / 8], seen = 0;
    __builtin_memcpy(words, &mask, vector_bytes);
    for (const u64 word : words) seen |= word;
    return seen != 0;
}

template <class T>
HR_HOT bool has_nan([[maybe_unused]] Vector<T> v) {
    if constexpr (static_cast<T>(1) / 2 == 0) return false;
#if defined(HR_ISA_AVX512)
    if constexpr (sizeof(T) == 4) return _mm512_cmp_ps_mask(bits_as<__m512>(v), bits_as<__m512>(v), _CMP_UNORD_Q) != 0;
    return _mm512_cmp_pd_mask(bits_as<__m512d>(v), bits_as<__m512d>(v), _CMP_UNORD_Q) != 0;
#elif defined(HR_ISA_AVX2)
    const Lanes<T> unlike = v != v;
    return !_mm256_testz_si256(bits_as<__m256i>(unlike), bits_as<__m256i>(unlike));
#else
    return any(v != v);
#endif
}

HR_END_NAMESPACE
