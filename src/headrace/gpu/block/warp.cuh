// What the 32 lanes of a warp do together: values of any size handed about, scans and reductions that keep their order.
// (Harris, Sengupta and Owens 2007, "Parallel prefix sum (scan) with CUDA", in registers: five steps of Hillis and
// Steele.) Nothing moves through memory.
#pragma once
#include "core/operators.hpp"

namespace headrace {
namespace tile {

constexpr u32 lanes = 32;
constexpr u32 all_lanes = ~0u;

__device__ __forceinline__ u32 lane() { return threadIdx.x % lanes; }
__device__ __forceinline__ u32 warp() { return threadIdx.x / lanes; }

// What a shuffle takes of a value at a time.
template <class T>
struct WordOf {
    using type = u64;
    static_assert(sizeof(T) % 8 == 0);
};
template <class T>
    requires(sizeof(T) == 4)
struct WordOf<T> {
    using type = u32;
};
template <class T>
using Word = typename WordOf<T>::type;

// A value as such words.
template <class T>
struct Words {
    static constexpr u32 count = sizeof(T) / sizeof(Word<T>);
    Word<T> word[count];
};

template <class T>
__device__ __forceinline__ T shuffle(T value, u32 source) {
    Words<T> words = bits_as<Words<T>>(value);
#pragma unroll
    for (u32 i = 0; i < Words<T>::count; ++i)
        words.word[i] = __shfl_sync(all_lanes, words.word[i], static_cast<int>(source));
    return bits_as<T>(words);
}
template <class T>
__device__ __forceinline__ T shuffle_up(T value, u32 distance) {
    Words<T> words = bits_as<Words<T>>(value);
#pragma unroll
    for (u32 i = 0; i < Words<T>::count; ++i) words.word[i] = __shfl_up_sync(all_lanes, words.word[i], distance);
    return bits_as<T>(words);
}
template <class T>
__device__ __forceinline__ T shuffle_down(T value, u32 distance) {
    Words<T> words = bits_as<Words<T>>(value);
#pragma unroll
    for (u32 i = 0; i < Words<T>::count; ++i) words.word[i] = __shfl_down_sync(all_lanes, words.word[i], distance);
    return bits_as<T>(words);
}

// Lane i gets the items of lanes 0 .. i joined.
template <class Op, class T>
__device__ __forceinline__ T scan_warp(T value) {
#pragma unroll
    for (u32 distance = 1; distance < lanes; distance *= 2) {
        const T before = shuffle_up(value, distance);
        if (lane() >= distance) value = Op::join(before, value);
    }
    return value;
}

// Lane 0 gets all items joined, lane 0's first; the others something.
template <class Op, class T>
__device__ __forceinline__ T reduce_warp(T value) {
#pragma unroll
    for (u32 distance = 1; distance < lanes; distance *= 2) value = Op::join(value, shuffle_down(value, distance));
    return value;
}

// The same where the last lane's item comes first.
template <class Op, class T>
__device__ __forceinline__ T reduce_warp_backwards(T value) {
#pragma unroll
    for (u32 distance = 1; distance < lanes; distance *= 2) {
        const T before = shuffle_down(value, distance);
        value = Op::join(before, value);
    }
    return value;
}

}  // namespace tile
}  // namespace headrace
