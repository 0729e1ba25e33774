// A warp that moves a tile between device and shared memory for the others, which then compute no address. Since sm_90
// one lane asks the copy engine for the whole tile (PTX ISA, "cp.async.bulk"); before, its lanes copy 16 bytes each,
// asynchronously (cp.async) into shared memory. Bytes moved: those of the tile.
#pragma once
#include "core/tile/gate.cuh"

namespace headrace {
namespace tile {

// So many threads arrive at the gate of a tile that is brought.
constexpr u32 movers = lanes;

// All lanes of a warp: `bytes` of device memory, a multiple of 16 at a 16-byte boundary, to shared memory. `there`
// opens when they have come.
__device__ __forceinline__ void bring(uint4* to, const uint4* from, u32 bytes, Gate& there) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    if (lane() != 0) return there.arrive();
    asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }" ::"r"(
                     there.address()),
                 "r"(bytes)
                 : "memory");
    asm volatile(
        "{ .reg .b64 policy; createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], "
        "policy; }" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))),
        "l"(from), "r"(bytes), "r"(there.address())
        : "memory");
#elif defined(__CUDACC__)
    for (u32 i = lane(); i < bytes / 16; i += lanes) copy_async(to + i, from + i);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(there.address()) : "memory");
#else
    for (u32 i = lane(); i < bytes / 16; i += lanes) to[i] = from[i];
    there.arrive();
#endif
}

// The same the other way. On return shared memory may be written again.
__device__ __forceinline__ void take_away(uint4* to, const uint4* from, u32 bytes) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    if (lane() == 0) {
        asm volatile(
            "{ .reg .b64 policy; createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
            "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, policy; }" ::"l"(to),
            "r"(static_cast<u32>(__cvta_generic_to_shared(from))), "r"(bytes)
            : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncwarp();
#else
#pragma unroll 8
    for (u32 i = lane(); i < bytes / 16; i += lanes) store_streaming(to + i, from[i]);
    __syncwarp();
#endif
}

// By each thread that wrote shared memory, before it arrives at the gate behind which `take_away` reads: the copy engine
// sees memory by a way of its own (PTX ISA, "async proxy").
__device__ __forceinline__ void show_to_mover() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// Items that are no whole tile, or at no boundary: one by one. Those at `count` and behind are `missing`.
template <class T>
__device__ __forceinline__ void bring_some(T* to, const T* from, i64 count, u32 room, T missing, Gate& there) {
#pragma unroll 8
    for (u32 i = lane(); i < room; i += lanes) to[i] = i < count ? from[i] : missing;
    there.arrive();
}
template <class T>
__device__ __forceinline__ void take_some_away(T* to, const T* from, i64 count, u32 room) {
#pragma unroll 8
    for (u32 i = lane(); i < room; i += lanes) {
        if (i < count) to[i] = from[i];
    }
    __syncwarp();
}

}  // namespace tile
}  // namespace headrace
