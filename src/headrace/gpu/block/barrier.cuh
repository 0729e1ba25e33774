// Barriers between the warps of one block, by CUDA's mbarrier (PTX ISA, "mbarrier", sm_80). A wait returns after a
// fixed number of arrivals. The barrier is reusable: waiters distinguish its phases by their parity. Writes before
// `arrive` are visible after `wait`. A warp of a pipeline waits only for the stage it needs, where `__syncthreads`
// would make it wait for the whole block.
//
//   __shared__ tile::Gate full;
//   if (threadIdx.x == 0) full.begin(1);
//   tile::gates_begun();
//   if (producer) { shared = value; full.arrive(); } else { full.wait(0); use(shared); }
#pragma once
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"

namespace headrace::tile {

class Barrier {
public:
    // Initialises the barrier. One thread calls it, before `gates_begun`. Each `arrivals`-th arrival ends a phase.
    HR_MEMBER void begin(u32 arrivals) {
#if defined(__CUDACC__)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals) : "memory");
#else
        state_ = static_cast<u64>(arrivals) << 32;
        __threadfence_block();
#endif
    }

    HR_MEMBER void arrive() {
#if defined(__CUDACC__)
        asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(address()) : "memory");
#else
        __threadfence_block();
        atomicAdd(&state_, u64{1});
#endif
    }

    // Called by all lanes of a warp, which count as one arrival.
    HR_MEMBER void arrive_warp() {
#if !defined(__CUDACC__)
        __threadfence_block();
#endif
        __syncwarp();
        if (lane() == 0) arrive();
    }

    // Returns when phase 0, 2, 4, .. has ended (`parity` 0), or phase 1, 3, 5, .. (`parity` 1). The phase after it must
    // not have ended too.
    HR_MEMBER void wait(u32 parity) {
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
    HR_MEMBER u32 address() const { return static_cast<u32>(__cvta_generic_to_shared(&state_)); }
#endif

private:
    u64 state_;  // without CUDA: arrivals of a phase in the high half, arrivals up to now in the low half
};

// Makes initialised barriers visible. All threads of the block call it after one thread has called `begin`.
HR_FN void gates_begun() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
    __syncthreads();
}

// A warp's position in a ring: the current stage, and the parity of that stage's phase.
template <u32 stages>
struct StagePhase {
    u32 stage = 0, parity = 0;

    HR_MEMBER void step() {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

}  // namespace headrace::tile
