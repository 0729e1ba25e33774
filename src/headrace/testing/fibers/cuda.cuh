// Adapts CUDA C++ to g++. It is included before the first line of a .cu file, whose kernels then compile unchanged;
// each thread is a fiber (scheduler.hpp). Shared variables have their own section, which is swapped when another block
// runs. Not supported: inline PTX (kernels have an alternative in C++), cooperative groups, textures, fp16, the
// standard library.
#pragma once
#include "testing/fibers/interface.hpp"

#define __global__ __attribute__((used, noinline))
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __shared__ static
#define __builtin_assume(condition) ((void)0)

using uint3 = headrace::fibers::Index;
struct dim3 {
    unsigned x = 1, y = 1, z = 1;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    constexpr dim3(uint3 all) : x(all.x), y(all.y), z(all.z) {}
};

#define threadIdx (headrace::fibers::thread_index())
#define blockIdx (headrace::fibers::block_index())
#define blockDim (headrace::fibers::block_size())
#define gridDim (headrace::fibers::grid_size())
#define warpSize 32

// name2 and name4 with CUDA's alignment, so that a load reads the whole vector at once.
#define FIBERS_VECTOR(name, type, align2, align4)                    \
    struct alignas(align2) name##2 { type x, y; };                   \
    struct alignas(align4) name##4 { type x, y, z, w; };             \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; } \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
FIBERS_VECTOR(char, signed char, 2, 4)
FIBERS_VECTOR(uchar, unsigned char, 2, 4)
FIBERS_VECTOR(short, short, 4, 8)
FIBERS_VECTOR(ushort, unsigned short, 4, 8)
FIBERS_VECTOR(int, int, 8, 16)
FIBERS_VECTOR(uint, unsigned int, 8, 16)
FIBERS_VECTOR(longlong, long long, 16, 16)
FIBERS_VECTOR(ulonglong, unsigned long long, 16, 16)
FIBERS_VECTOR(float, float, 8, 16)
FIBERS_VECTOR(double, double, 16, 16)
#undef FIBERS_VECTOR

// The allocator of a kernel is the one of the process. Kernels may store addresses of such memory but not access it,
// since the harness checks accesses against the arrays of a launch.
extern "C" void* malloc(decltype(sizeof 0) bytes) noexcept;
extern "C" void free(void* memory) noexcept;

#include "testing/fibers/atomics.cuh"
#include "testing/fibers/bits.cuh"
#include "testing/fibers/entry.cuh"
#include "testing/fibers/threads.cuh"
