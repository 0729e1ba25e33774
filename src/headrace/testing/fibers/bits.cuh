// Implements CUDA's integer and bit intrinsics, copies, and loads with cache hints, which are plain loads here.
#pragma once
#include "testing/fibers/interface.hpp"

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline unsigned long long __brevll(unsigned long long x) {
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0F0F0F0F0F0F0F0F) | (x & 0x0F0F0F0F0F0F0F0F) << 4;
    return __builtin_bswap64(x);
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }

// Byte i of the result is the byte of b:a that hex digit i of `selector` selects; the digit's highest bit is ignored.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    const unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned digit = selector >> 4 * i;
        result |= (static_cast<unsigned>(both >> 8 * (digit & 7)) & 255) << 8 * i;
    }
    return result;
}

// Shift high:low. The plain forms take the shift modulo 32; those with c clamp it to 32.
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return headrace::multiply_wide(a, b).high;
}

inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }

#define FIBERS_LOAD(name) \
    template <class T>    \
    T name(const T* p) {  \
        return *p;        \
    }
FIBERS_LOAD(__ldg)
FIBERS_LOAD(__ldcs)
#undef FIBERS_LOAD
template <class T>
void __stcs(T* p, T value) {
    *p = value;
}

// Declared by CUDA without a header.
extern "C" {
void* memcpy(void* to, const void* from, headrace::usize n);
void* memmove(void* to, const void* from, headrace::usize n);
void* memset(void* to, int byte, headrace::usize n);
}

// The common type of two types by the usual arithmetic conversions, like CUDA's overloads.
template <class A, class B>
constexpr auto min(A a, B b) -> decltype(a + b) {
    using T = decltype(a + b);
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B>
constexpr auto max(A a, B b) -> decltype(a + b) {
    using T = decltype(a + b);
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}
