// Defines integer types, function qualifiers and bit helpers that mean the same to g++, nvcc and NVRTC. The rules
// shared by both devices build on it. It is the only header that may test __CUDACC__, and it includes no standard
// header, because NVRTC has none.
//
// Everything in a shared header lives in an inline namespace named after the instruction set (HR_ISA) that the
// translation unit is compiled for. Without it the linker could keep one copy of an inline function, such as one with
// AVX-512, and run it on a machine without AVX-512.
#pragma once

#if defined(__CUDACC__)
#define HR_FN static __device__ __forceinline__
#define HR_HOT HR_FN
#define HR_COLD static __device__ __noinline__
#define HR_MEMBER __device__ __forceinline__
#define HR_CONSTANT static __device__ __constant__ const
#define HR_TABLE static __device__ const
#else
#define HR_FN [[maybe_unused]] static inline
// For functions called once a value. Compilers do not inline a function with many callers, which costs a fifth of the
// rate.
#define HR_HOT [[maybe_unused, gnu::always_inline]] static inline
// For functions that a GPU rarely needs because fast paths precede them. The GPU has one copy, which is called. HR_FN
// would inline a copy at every call and raise the register count there.
#define HR_COLD HR_FN
#define HR_MEMBER
#define HR_CONSTANT [[maybe_unused]] static constexpr
// For tables that threads of a warp read at different positions: constant memory serves one word at a time.
#define HR_TABLE HR_CONSTANT
#endif

#if !defined(HR_ISA)
#define HR_ISA generic
#endif

#define HR_BEGIN_NAMESPACE \
    namespace headrace {   \
    inline namespace HR_ISA {
#define HR_END_NAMESPACE \
    }                    \
    }

namespace headrace {
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using usize = decltype(sizeof(0));
static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8 && sizeof(usize) == 8);
}  // namespace headrace

HR_BEGIN_NAMESPACE

// Product of two 64-bit words, 128 bits.
struct Product {
    u64 low;
    u64 high;
};

HR_FN Product multiply_wide(u64 a, u64 b) {
#if defined(__CUDACC__)
    return {a * b, __umul64hi(a, b)};
#else
    __extension__ using u128 = unsigned __int128;
    const u128 product = static_cast<u128>(a) * b;
    return {static_cast<u64>(product), static_cast<u64>(product >> 64)};
#endif
}

// Return the number of zero bits above the highest set bit; `x` must not be 0.
HR_FN int leading_zeros(u64 x) {
#if defined(__CUDACC__)
    return __clzll(static_cast<i64>(x));
#else
    return __builtin_clzll(x);
#endif
}

// Return the number of zero bits below the lowest set bit; `x` must not be 0.
HR_FN int trailing_zeros(u64 x) {
#if defined(__CUDACC__)
    return __ffsll(static_cast<i64>(x)) - 1;
#else
    return __builtin_ctzll(x);
#endif
}

HR_FN int count_ones(u64 x) {
#if defined(__CUDACC__)
    return __popcll(x);
#else
    return __builtin_popcountll(x);
#endif
}

// Return a * b + c, rounded once.
HR_FN float fused(float a, float b, float c) {
#if defined(__CUDACC__)
    return __fmaf_rn(a, b, c);
#else
    return __builtin_fmaf(a, b, c);
#endif
}
HR_FN double fused(double a, double b, double c) {
#if defined(__CUDACC__)
    return __fma_rn(a, b, c);
#else
    return __builtin_fma(a, b, c);
#endif
}

// Return the number without its fraction, clamped to u32; NaN gives 0. On a GPU, a double is added to 2^52 with
// rounding towards 0, and the low word of the sum is the result. The conversion instruction is avoided. Up to release
// 13.1, ptxas for sm_90 and sm_100 may drop one of two conversions whose operands differ only in the upper word, such
// as 0.0 and 1.0.
HR_FN u32 whole_part(float x) {
#if defined(__CUDACC__)
    return __float2uint_rz(x);
#else
    return x >= 0.0f ? x < 4294967296.0f ? static_cast<u32>(x) : ~0u : 0;
#endif
}
HR_FN u32 whole_part(double x) {
#if defined(__CUDACC__)
    const double part = __dadd_rz(x < 4294967295.0 ? x : 4294967295.0, 4503599627370496.0);
    return x >= 0.0 ? static_cast<u32>(__double2loint(part)) : 0;
#else
    return x >= 0.0 ? x < 4294967296.0 ? static_cast<u32>(x) : ~0u : 0;
#endif
}

// Selects one of two types: Either<sizeof(Key) == 8, u64, u32>.
template <bool is_first, class First, class Second>
struct EitherOf {
    using type = First;
};
template <class First, class Second>
struct EitherOf<false, First, Second> {
    using type = Second;
};
template <bool is_first, class First, class Second>
using Either = typename EitherOf<is_first, First, Second>::type;

// Return the item at `p`, which may be unaligned in host memory.
template <class T>
HR_FN T item_at_any(const T* p) {
#if defined(__CUDACC__)
    return *p;
#else
    T item;
    __builtin_memcpy(&item, p, sizeof(T));
    return item;
#endif
}

// Returns the 8 bytes at `p` as a little-endian word. NVRTC has no __builtin_memcpy, so the bytes are combined one by
// one; g++ and clang compile this to a single load.
HR_FN u64 load_word(const u8* p) {
    const u32 low = p[0] | u32{p[1]} << 8 | u32{p[2]} << 16 | u32{p[3]} << 24;
    const u32 high = p[4] | u32{p[5]} << 8 | u32{p[6]} << 16 | u32{p[7]} << 24;
    return low | u64{high} << 32;
}

// Returns fewer than 8 bytes as the low bytes of a word.
HR_FN u64 load_bytes(const u8* p, u64 size) {
    u64 word = 0;
#if defined(__CUDACC__)
    for (u32 i = 0; i < size; ++i) word |= u64{p[i]} << (8 * i);
#else
    if (size != 0) __builtin_memcpy(&word, p, size);
#endif
    return word;
}

// Return a word whose lowest `count` bits are set, e.g. low_mask(3) == 7.
template <class Count>
HR_FN u32 low_mask(Count count) {
    return count >= 32 ? ~0u : (1u << count) - 1;
}

// Return the same bits as another type, e.g. bits_as<double>(0x3FF0000000000000) == 1.0.
template <class To, class From>
HR_FN To bits_as(From value) {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, value);
}

HR_END_NAMESPACE
