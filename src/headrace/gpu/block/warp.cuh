// Shuffles of values of any size among the 32 lanes of a warp, and scans and reductions that keep the lanes' order. The
// scan is the one of Hillis and Steele, in five steps (Harris, Sengupta and Owens 2007, "Parallel prefix sum (scan)
// with CUDA"). All values stay in registers.
#pragma once
#include "core/operators.hpp"

namespace headrace::tile {

constexpr u32 lanes = 32;
constexpr u32 all_lanes = ~0u;

__device__ __forceinline__ u32 lane() { return threadIdx.x % lanes; }
__device__ __forceinline__ u32 warp() { return threadIdx.x / lanes; }

// The unsigned word by which a shuffle moves a value.
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

// A value as an array of such words.
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

// Inclusive scan: lane i gets the items of lanes 0 to i, joined.
template <class Op, class T>
__device__ __forceinline__ T scan_warp(T value) {
#pragma unroll
    for (u32 distance = 1; distance < lanes; distance *= 2) {
        const T before = shuffle_up(value, distance);
        if (lane() >= distance) value = Op::join(before, value);
    }
    return value;
}

// Joins the items of all lanes in lane order. Lane 0 gets the result; it is undefined in the other lanes.
template <class Op, class T>
__device__ __forceinline__ T reduce_warp(T value) {
#pragma unroll
    for (u32 distance = 1; distance < lanes; distance *= 2) value = Op::join(value, shuffle_down(value, distance));
    return value;
}

// Joins the items of all lanes in descending lane order, otherwise as `reduce_warp`.
template <class Op, class T>
__device__ __forceinline__ T reduce_warp_backwards(T value) {
#pragma unroll
    for (u32 distance = 1; distance < lanes; distance *= 2) {
        const T before = shuffle_down(value, distance);
        value = Op::join(before, value);
    }
    return value;
}

}  // namespace headrace::tile
