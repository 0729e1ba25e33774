// Allocates a slab for each thread, by SlabAlloc or by the allocator of CUDA (section 5.5 of the dissertation).
//
// Bytes moved for a slab: 4 for its number or 8 for its address, and an atomic operation on a sector of 32 bytes. The
// slabs themselves are not accessed.
#include "gpu/containers/slab_alloc.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

// Writes the number of each slab; no_slab if all are in use.
extern "C" __global__ void __launch_bounds__(threads)
    allocate_slabs(const __grid_constant__ SlabTable table, u64 count, u32* slabs) {
    const u64 row = static_cast<u64>(blockIdx.x) * threads + threadIdx.x;
    slab::Allocator allocator(table);
    const u32 slab = allocator.allocate(row < count);
    if (row < count) slabs[row] = slab;
}

// Gives back slabs.
extern "C" __global__ void __launch_bounds__(threads)
    release_slabs(const __grid_constant__ SlabTable table, u64 count, const u32* slabs) {
    const u64 row = static_cast<u64>(blockIdx.x) * threads + threadIdx.x;
    if (row < count) slab::Allocator::release(table, slabs[row]);
}

// Writes the address of each slab; 0 without memory.
extern "C" __global__ void __launch_bounds__(threads) allocate_memory(u64 count, u64* slabs) {
    const u64 row = static_cast<u64>(blockIdx.x) * threads + threadIdx.x;
    if (row < count) slabs[row] = reinterpret_cast<u64>(malloc(slab_bytes));
}

extern "C" __global__ void __launch_bounds__(threads) free_memory(u64 count, const u64* slabs) {
    const u64 row = static_cast<u64>(blockIdx.x) * threads + threadIdx.x;
    if (row < count) free(reinterpret_cast<void*>(slabs[row]));
}
