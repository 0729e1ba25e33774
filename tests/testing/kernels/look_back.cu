// A scan in one pass (Merrill and Garland 2016, "Single-pass parallel prefix scan with decoupled look-back"). Items are
// affine maps x -> a x + b modulo 2^16, packed as a << 16 | b, whose composition does not commute. One item a thread.
// Each block takes a ticket, so that it only waits for blocks that have begun; `deepest` records how many blocks back a
// look-back went.
//
// BY_BLOCK_INDEX takes blockIdx.x for the ticket, which is wrong: nothing promises that earlier blocks have begun.
#include "gpu/block/memory_access.cuh"

using headrace::u32;
using headrace::u64;

// First `first`, then `second`.
__device__ inline u32 compose(u32 first, u32 second) {
    const u32 a = first >> 16, b = first & 0xFFFF, c = second >> 16, d = second & 0xFFFF;
    return ((c * a) & 0xFFFF) << 16 | ((c * b + d) & 0xFFFF);
}
constexpr u32 IDENTITY = 1u << 16;
constexpr u64 TOTAL = 1ull << 32, PREFIX = 2ull << 32;

__device__ inline u32 scan_warp(u32 value) {
    for (unsigned distance = 1; distance < 32; distance *= 2) {
        const u32 before = __shfl_up_sync(~0u, value, distance);
        if ((threadIdx.x & 31) >= distance) value = compose(before, value);
    }
    return value;
}

// A word of a block: nothing yet (0), its total, or the prefix up to its end.
__device__ inline u32 look_back(u64* words, u32 block, u32* deepest) {
    u32 prefix = IDENTITY, depth = 0;
    for (int before = static_cast<int>(block) - 1; before >= 0; --before) {
        u64 word;
#if defined(WITH_VOLATILE)
        while ((word = static_cast<volatile u64*>(words)[before]) == 0) {
        }
#else
        while ((word = headrace::tile::load_acquire(&words[before])) == 0) {
        }
#endif
        ++depth;
        prefix = compose(static_cast<u32>(word), prefix);
        if (word >= PREFIX) break;
    }
    atomicMax(deepest, depth);
    return prefix;
}

extern "C" __global__ void __launch_bounds__(256)
    scan(const u32* in, u32* out, u32 n, u64* words, u32* tickets, u32* deepest) {
    __shared__ u32 totals[8];
    __shared__ u32 ticket, prefix;
    const u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
#if defined(BY_BLOCK_INDEX)
        ticket = blockIdx.x;
#else
        ticket = atomicAdd(tickets, 1u);
#endif
    }
    __syncthreads();
    const u32 i = ticket * blockDim.x + threadIdx.x;
    const u32 own = scan_warp(i < n ? in[i] : IDENTITY);
    if (lane == 31) totals[warp] = own;
    __syncthreads();
    u32 before = IDENTITY, total = IDENTITY;
    for (u32 other = 0; other < blockDim.x / 32; ++other) {
        if (other == warp) before = total;
        total = compose(total, totals[other]);
    }
    if (threadIdx.x == 0) {
        headrace::tile::store_release(&words[ticket], (ticket == 0 ? PREFIX : TOTAL) | total);
        prefix = look_back(words, ticket, deepest);
        headrace::tile::store_release(&words[ticket], PREFIX | compose(prefix, total));
    }
    __syncthreads();
    if (i < n) out[i] = compose(compose(prefix, before), own);
}
