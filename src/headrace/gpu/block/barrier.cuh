// Gates between the warps of a block: who waits goes on when so many have come, and a gate serves again and again, its
// turns told apart by their parity. What was written before `arrive` is seen behind `wait`. Each is CUDA's mbarrier
// (PTX ISA, "mbarrier", sm_80); warps of a pipeline wait for what they need and for nothing else, as with barriers of
// the whole block they would.
//
//   __shared__ tile::Gate full;
//   if (threadIdx.x == 0) full.begin(1);
//   tile::gates_begun();
//   if (producer) { shared = value; full.arrive(); } else { full.wait(0); use(shared); }
#pragma once
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"

namespace headrace {
namespace tile {

class Gate {
public:
    // By one thread, before `gates_begun`. It opens with each `arrivals`-th call of `arrive`.
    __device__ __forceinline__ void begin(u32 arrivals) {
#if defined(__CUDACC__)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals) : "memory");
#else
        state_ = static_cast<u64>(arrivals) << 32;
        __threadfence_block();
#endif
    }

    __device__ __forceinline__ void arrive() {
#if defined(__CUDACC__)
        asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(address()) : "memory");
#else
        __threadfence_block();
        atomicAdd(&state_, u64{1});
#endif
    }

    // All lanes of a warp have come: counts as one.
    __device__ __forceinline__ void arrive_warp() {
#if !defined(__CUDACC__)
        __threadfence_block();
#endif
        __syncwarp();
        if (lane() == 0) arrive();
    }

    // Returns when turn 0, 2, 4, .. is over (`parity` 0), or 1, 3, 5, .. (1); the turn after it must not be over too.
    __device__ __forceinline__ void wait(u32 parity) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
        asm volatile(
            "{ .reg .pred open; \n"
            "again: mbarrier.try_wait.parity.shared::cta.b64 open, [%0], %1; \n"
            "@!open bra again; }" ::"r"(address()),
            "r"(parity)
            : "memory");
#elif defined(__CUDACC__)
        asm volatile(
            "{ .reg .pred open; \n"
            "again: mbarrier.test_wait.parity.shared::cta.b64 open, [%0], %1; \n"
            "@!open bra again; }" ::"r"(address()),
            "r"(parity)
            : "memory");
#else
        while (true) {
            const u64 seen = *static_cast<const volatile u64*>(&state_);
            if ((static_cast<u32>(seen) / static_cast<u32>(seen >> 32) & 1) != parity) break;
        }
        __threadfence_block();
#endif
    }

#if defined(__CUDACC__)
    __device__ __forceinline__ u32 address() const { return static_cast<u32>(__cvta_generic_to_shared(&state_)); }
#endif

private:
    u64 state_;  // of the twin: how many make a turn, and below that how many have come
};

// All threads of the block, when one has begun each gate.
__device__ __forceinline__ void gates_begun() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
    __syncthreads();
}

// Which stage of a ring a warp has come to, and the parity of that stage's turn.
template <u32 stages>
struct Place {
    u32 stage = 0, parity = 0;

    __device__ __forceinline__ void step() {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

}  // namespace tile
}  // namespace headrace
