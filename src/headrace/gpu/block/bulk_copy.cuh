// Copies a tile between device and shared memory by one producer warp, so that the other warps compute no addresses.
// From sm_90 on, one lane issues a bulk copy of the whole tile (PTX ISA, "cp.async.bulk"). On older architectures each
// lane copies 16 bytes at a time, asynchronously into shared memory (cp.async). Bytes moved: those of the tile.
#pragma once
#include "gpu/block/barrier.cuh"

namespace headrace::tile {

// Arrivals at the barrier of a tile that is copied to shared memory.
constexpr u32 load_arrivals = lanes;

// Arrives once the copies that this thread issued by `copy_async` are complete. Such an arrival does not release the
// thread's own stores, so a fence precedes it.
HR_FN void arrive_after_copies(Barrier& barrier) {
#if defined(__CUDACC__)
    __threadfence_block();
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier.address()) : "memory");
#else
    barrier.arrive();
#endif
}

// Copies device memory to shared memory. All lanes of a warp call it. `bytes`: a multiple of 16. Both addresses are
// aligned to 16 bytes. A phase of `there` ends when the copy is complete and the lanes' earlier stores are visible.
HR_FN void load_async(uint4* to, const uint4* from, u32 bytes, Barrier& there) {
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
    arrive_after_copies(there);
#endif
}

// Copies shared memory to device memory. Once all lanes have returned, the shared memory may be overwritten.
HR_FN void store_async(uint4* to, const uint4* from, u32 bytes) {
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

// Makes this thread's writes to shared memory visible to the copy engine, which uses another proxy (PTX ISA, "async
// proxy"). Each writing thread calls it before it arrives at the barrier that precedes `store_async`.
HR_FN void fence_bulk_copy() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// Copies items [0, count) of device memory, aligned to 16 bytes, to shared memory, and sets the following ones up to
// `capacity` to `missing`. `capacity`: items of the target, a multiple of 16 bytes. Full 16-byte pieces go by
// `load_async`; the lanes copy the rest.
template <class T>
HR_FN void load_items_async(T* to, const T* from, i64 count, u32 capacity, T missing, Barrier& there) {
    constexpr u32 per_piece = 16 / sizeof(T);
    const u32 held = count < capacity ? static_cast<u32>(count) : capacity;
    const u32 together = held / per_piece * per_piece;
#pragma unroll 1
    for (u32 i = together + lane(); i < capacity; i += lanes) to[i] = i < held ? from[i] : missing;
    load_async(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4*>(from), together * sizeof(T), there);
}

template <class T>
HR_FN void store_items_async(T* to, const T* from, i64 count, u32 capacity) {
    constexpr u32 per_piece = 16 / sizeof(T);
    const u32 held = count < capacity ? static_cast<u32>(count) : capacity;
    const u32 together = held / per_piece * per_piece;
#pragma unroll 1
    for (u32 i = together + lane(); i < held; i += lanes) to[i] = from[i];
    if (together != 0) {
        store_async(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4*>(from), together * sizeof(T));
    }
    __syncwarp();
}

}  // namespace headrace::tile
