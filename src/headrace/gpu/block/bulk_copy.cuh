// A warp that moves a tile between device and shared memory for the others, which then compute no address. Since sm_90
// one lane asks the copy engine for the whole tile (PTX ISA, "cp.async.bulk"); before, its lanes copy 16 bytes each,
// asynchronously (cp.async) into shared memory. Bytes moved: those of the tile.
#pragma once
#include "gpu/block/barrier.cuh"

namespace headrace {
namespace tile {

// So many threads arrive at the gate of a tile that is brought.
constexpr u32 movers = lanes;

// This thread arrives when all that it has asked for by `copy_async` is there. The fence is for what it stored itself:
// such an arrival releases nothing.
__device__ __forceinline__ void arrive_behind_copies(Gate& gate) {
#if defined(__CUDACC__)
    __threadfence_block();
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(gate.address()) : "memory");
#else
    gate.arrive();
#endif
}

// All lanes of a warp: `bytes` of device memory, a multiple of 16 at a 16-byte boundary, to shared memory. `there`
// opens when they have come, and with them what the lanes themselves have stored before this.
__device__ __forceinline__ void bring(uint4* to, const uint4* from, u32 bytes, Gate& there) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    if (lane() != 0) return there.arrive();
    asm volatile(
        "{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }" ::"r"(there.address()),
        "r"(bytes)
        : "memory");
    if (bytes == 0) return;
    asm volatile(
        "{ .reg .b64 policy; createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], "
        "policy; }" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))),
        "l"(from), "r"(bytes), "r"(there.address())
        : "memory");
#else
    for (u32 i = lane(); i < bytes / 16; i += lanes) copy_async(to + i, from + i);
    arrive_behind_copies(there);
#endif
}

// The same the other way. When all lanes have returned, shared memory may be written again.
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
#else
#pragma unroll 8
    for (u32 i = lane(); i < bytes / 16; i += lanes) store_streaming(to + i, from[i]);
#endif
}

// By each thread that wrote shared memory, before it arrives at the gate behind which `take_away` reads: the copy
// engine sees memory by a way of its own (PTX ISA, "async proxy").
__device__ __forceinline__ void show_to_mover() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// Items [0, count) of device memory at a 16-byte boundary to a place for `room` of them, a multiple of 16 bytes; those
// behind are `missing`. All but the last few go as above.
template <class T>
__device__ __forceinline__ void bring_items(T* to, const T* from, i64 count, u32 room, T missing, Gate& there) {
    constexpr u32 per_piece = 16 / sizeof(T);
    const u32 held = count < room ? static_cast<u32>(count) : room;
    const u32 together = held / per_piece * per_piece;
#pragma unroll 1
    for (u32 i = together + lane(); i < room; i += lanes) to[i] = i < held ? from[i] : missing;
    bring(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4*>(from), together * sizeof(T), there);
}

template <class T>
__device__ __forceinline__ void take_items_away(T* to, const T* from, i64 count, u32 room) {
    constexpr u32 per_piece = 16 / sizeof(T);
    const u32 held = count < room ? static_cast<u32>(count) : room;
    const u32 together = held / per_piece * per_piece;
#pragma unroll 1
    for (u32 i = together + lane(); i < held; i += lanes) to[i] = from[i];
    if (together != 0) {
        take_away(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4*>(from), together * sizeof(T));
    }
    __syncwarp();
}

}  // namespace tile
}  // namespace headrace
