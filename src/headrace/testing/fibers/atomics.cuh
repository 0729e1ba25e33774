// Implements CUDA's atomic functions for exactly CUDA's types. Another thread may run before each one.
#pragma once
#include "testing/fibers/interface.hpp"

namespace headrace::fibers {

template <class T, class... Listed>
constexpr bool one_of = (__is_same(T, Listed) || ...);

template <class T>
constexpr Type type_of = __is_same(T, u16)     ? Type::U16
                         : __is_same(T, u32)   ? Type::U32
                         : __is_same(T, u64)   ? Type::U64
                         : __is_same(T, i32)   ? Type::I32
                         : __is_same(T, i64)   ? Type::I64
                         : __is_same(T, float) ? Type::F32
                                               : Type::F64;

template <class T>
struct Same {
    using type = T;
};

template <class T>
u64 bits_of(T value) {
    if constexpr (sizeof(T) == 2) {
        return __builtin_bit_cast(u16, value);
    } else if constexpr (sizeof(T) == 4) {
        return __builtin_bit_cast(u32, value);
    } else {
        return __builtin_bit_cast(u64, value);
    }
}

template <class T>
T from_bits(u64 bits) {
    if constexpr (sizeof(T) == 2) {
        return __builtin_bit_cast(T, static_cast<u16>(bits));
    } else if constexpr (sizeof(T) == 4) {
        return __builtin_bit_cast(T, static_cast<u32>(bits));
    } else {
        return __builtin_bit_cast(T, bits);
    }
}

// always_inline, so that reports name the kernel's line.
template <class T>
[[gnu::always_inline]] inline T atomic_of(Atomic what, T* address, T operand, T expected = T()) {
    return from_bits<T>(atomic(what, type_of<T>, address, bits_of(operand), bits_of(expected)));
}

}  // namespace headrace::fibers

#define FIBERS_ATOMIC_NAME(name, what, ...)                                                              \
    template <class T>                                                                                   \
    [[gnu::always_inline]] inline T name(T* address, typename headrace::fibers::Same<T>::type operand) { \
        static_assert(headrace::fibers::one_of<T, __VA_ARGS__>, #name " has no overload for this type"); \
        return headrace::fibers::atomic_of(headrace::fibers::Atomic::what, address, operand);            \
    }
#define FIBERS_ATOMIC(name, what, ...)                  \
    FIBERS_ATOMIC_NAME(name, what, __VA_ARGS__)         \
    FIBERS_ATOMIC_NAME(name##_block, what, __VA_ARGS__) \
    FIBERS_ATOMIC_NAME(name##_system, what, __VA_ARGS__)
FIBERS_ATOMIC(atomicAdd, ADD, int, unsigned, unsigned long long, float, double)
FIBERS_ATOMIC(atomicMin, MIN, int, unsigned, long long, unsigned long long)
FIBERS_ATOMIC(atomicMax, MAX, int, unsigned, long long, unsigned long long)
FIBERS_ATOMIC(atomicAnd, AND, int, unsigned, unsigned long long)
FIBERS_ATOMIC(atomicOr, OR, int, unsigned, unsigned long long)
FIBERS_ATOMIC(atomicXor, XOR, int, unsigned, unsigned long long)
FIBERS_ATOMIC(atomicExch, EXCHANGE, int, unsigned, unsigned long long, float)
FIBERS_ATOMIC(atomicInc, INCREMENT, unsigned)
FIBERS_ATOMIC(atomicDec, DECREMENT, unsigned)
#undef FIBERS_ATOMIC
#undef FIBERS_ATOMIC_NAME

template <class T>
[[gnu::always_inline]] inline T atomicSub(T* address, typename headrace::fibers::Same<T>::type operand) {
    static_assert(headrace::fibers::one_of<T, int, unsigned>, "atomicSub has no overload for this type");
    return headrace::fibers::atomic_of(headrace::fibers::Atomic::ADD, address,
                                       static_cast<T>(0u - static_cast<unsigned>(operand)));
}

#define FIBERS_COMPARE_AND_SWAP(name)                                                                               \
    template <class T>                                                                                              \
    [[gnu::always_inline]] inline T name(T* address, typename headrace::fibers::Same<T>::type expected,             \
                                         typename headrace::fibers::Same<T>::type desired) {                        \
        static_assert(headrace::fibers::one_of<T, int, unsigned, unsigned long long, unsigned short>,               \
                      #name " has no overload for this type");                                                      \
        return headrace::fibers::atomic_of(headrace::fibers::Atomic::COMPARE_AND_SWAP, address, desired, expected); \
    }
FIBERS_COMPARE_AND_SWAP(atomicCAS)
FIBERS_COMPARE_AND_SWAP(atomicCAS_block)
FIBERS_COMPARE_AND_SWAP(atomicCAS_system)
#undef FIBERS_COMPARE_AND_SWAP
