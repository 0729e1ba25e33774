// Memory accesses for communication between blocks: relaxed, acquire and release at device scope, streaming accesses,
// and dynamic shared memory (PTX ISA, "Memory Consistency Model"). A release store follows the data that it publishes;
// an acquire load precedes the reads of that data.
//
// Each function has a second form for other compilers than CUDA's. Its accesses are volatile, so that the fiber harness
// switches threads there. Bytes moved: those of the value, once; 16 bytes go in one access (sm_70).
#pragma once
#include "core/cpu/portable.hpp"

// Declares `type* name`: the block's dynamic shared memory. All kernels declare the same array of bytes; two kernels of
// a program that declare it with different types do not compile.
#if defined(__CUDACC__)
#define HR_DYNAMIC_SHARED(type, name)                                  \
    extern __shared__ __align__(16) unsigned char hr_dynamic_shared[]; \
    type* const name = reinterpret_cast<type*>(hr_dynamic_shared)
#else
#define HR_DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(headrace::fibers::dynamic_shared())
#endif

namespace headrace::tile {

// Returns a pointer to global memory. The compiler then needs no generic stores, which may go to shared memory.
template <class T>
HR_FN T* in_global(T* pointer) {
#if defined(__CUDACC__)
    __builtin_assume(__isGlobal(pointer));
#endif
    return pointer;
}

// An unsigned type of that width in bytes, for items that are only moved.
template <int width>
struct ItemOf;
template <>
struct ItemOf<1> {
    using type = u8;
};
template <>
struct ItemOf<2> {
    using type = u16;
};
template <>
struct ItemOf<4> {
    using type = u32;
};
template <>
struct ItemOf<8> {
    using type = u64;
};
template <>
struct ItemOf<16> {
    using type = uint4;
};

// 16 bytes as two words of 8 bytes.
struct WordPair {
    u64 low, high;
};

#if defined(__CUDACC__)

#define HR_LOAD(name, order)                                                              \
    HR_MEMBER u32 name(const u32* p) {                                                    \
        u32 value;                                                                        \
        asm volatile("ld." order ".u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");     \
        return value;                                                                     \
    }                                                                                     \
    HR_MEMBER u64 name(const u64* p) {                                                    \
        u64 value;                                                                        \
        asm volatile("ld." order ".u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");     \
        return value;                                                                     \
    }                                                                                     \
    HR_MEMBER WordPair name(const WordPair* p) {                                          \
        WordPair value;                                                                   \
        asm volatile("{ .reg .b128 t; ld." order ".b128 t, [%2]; mov.b128 {%0, %1}, t; }" \
                     : "=l"(value.low), "=l"(value.high)                                  \
                     : "l"(p)                                                             \
                     : "memory");                                                         \
        return value;                                                                     \
    }
#define HR_STORE(name, order)                                                                           \
    HR_MEMBER void name(u32* p, u32 value) {                                                            \
        asm volatile("st." order ".gpu.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");                 \
    }                                                                                                   \
    HR_MEMBER void name(u64* p, u64 value) {                                                            \
        asm volatile("st." order ".gpu.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");                 \
    }                                                                                                   \
    HR_MEMBER void name(WordPair* p, WordPair value) {                                                  \
        asm volatile("{ .reg .b128 t; mov.b128 t, {%1, %2}; st." order ".gpu.b128 [%0], t; }" ::"l"(p), \
                     "l"(value.low), "l"(value.high)                                                    \
                     : "memory");                                                                       \
    }

// Sets bits of a word, and returns it as it was before.
HR_FN u32 or_acquire(u32* p, u32 bits) {
    u32 value;
    asm volatile("atom.acquire.gpu.global.or.b32 %0, [%1], %2;" : "=r"(value) : "l"(p), "r"(bits) : "memory");
    return value;
}

HR_LOAD(load_relaxed, "relaxed.gpu")
HR_LOAD(load_acquire, "acquire.gpu")
// From the nearest cache: of a word that other threads change, an earlier value may be returned.
HR_LOAD(load_cached, "global.ca")
HR_STORE(store_relaxed, "relaxed")
HR_STORE(store_release, "release")
#undef HR_LOAD
#undef HR_STORE

#else

// always_inline, so that a report names the kernel's line.
template <class T>
__forceinline__ T load_relaxed(const T* p) {
    if constexpr (sizeof(T) == 16) {
        T value;
        fibers::load_16(p, &value);
        return value;
    } else {
        return *static_cast<const volatile T*>(p);
    }
}
template <class T>
__forceinline__ T load_acquire(const T* p) {
    const T value = load_relaxed(p);
    __threadfence();
    return value;
}
template <class T>
__forceinline__ T load_cached(const T* p) {
    return load_relaxed(p);
}
__forceinline__ u32 or_acquire(u32* p, u32 bits) {
    const u32 value = atomicOr(p, bits);
    __threadfence();
    return value;
}
template <class T>
__forceinline__ void store_relaxed(T* p, T value) {
    if constexpr (sizeof(T) == 16) {
        fibers::store_16(p, &value);
    } else {
        *static_cast<volatile T*>(p) = value;
    }
}
template <class T>
__forceinline__ void store_release(T* p, T value) {
    __threadfence();
    store_relaxed(p, value);
}

#endif

// Loads 16 bytes that are read once, without an L1 allocation. The memory must not change while the kernel runs.
HR_FN uint4 load_streaming(const uint4* p) {
#if defined(__CUDACC__)
    uint4 value;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
        : "l"(p));
    return value;
#else
    return *p;
#endif
}

// Calls `use(i, bytes)` for each `stride`-th vector from `first` on, with three loads of a thread in flight at once.
template <class Use>
HR_FN void use_streamed(const uint4* from, u32 first, u32 vectors, u32 stride, const Use& use) {
    constexpr u32 rounds = 3;
#pragma unroll 1
    for (; first < vectors; first += rounds * stride) {
        uint4 own[rounds];
#pragma unroll
        for (u32 i = 0; i < rounds; ++i) own[i] = load_streaming(from + min(first + i * stride, vectors - 1));
#pragma unroll
        for (u32 i = 0; i < rounds; ++i) {
            if (first + i * stride >= vectors) break;
            use(first + i * stride, own[i]);
        }
    }
}

// Brings the line of an address into the L2 cache; the thread does not wait.
HR_FN void prefetch(const void* p) {
#if defined(__CUDACC__)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#else
    static_cast<void>(p);
#endif
}

// Copies 16 bytes from device memory to shared memory asynchronously (PTX ISA, "cp.async", sm_80). The copy is complete
// after `wait_for_copies`, or when a barrier completes that the thread arrives at after it (gpu/block/bulk_copy.cuh).
HR_FN void copy_async(uint4* to, const uint4* from) {
#if defined(__CUDACC__)
    const u32 at = static_cast<u32>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
#else
    *to = *from;
#endif
}
HR_FN void wait_for_copies() {
#if defined(__CUDACC__)
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
// Stores 16 bytes that are not read again soon: the first to be evicted from the cache.
HR_FN void store_streaming(uint4* p, uint4 value) { __stcs(p, value); }

}  // namespace headrace::tile
