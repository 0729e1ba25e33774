// A barrier for all blocks of one launch. All must be resident, so the launch is cooperative (`LaunchMode` in
// gpu/kernels/kernel.py) and has at most one block a multiprocessor. The barrier costs about a microsecond. Work
// between `arrive` and `wait` overlaps it.
#pragma once
#include "gpu/block/look_back.cuh"

namespace headrace {

// Increments with release semantics: all writes that this thread observed precede it. A sequentially consistent fence
// would take twice as long.
HR_FN void add_release(u32* counter) {
#if defined(__CUDACC__)
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
#else
    __threadfence();
    atomicAdd(counter, 1u);
#endif
}

class GridBarrier {
public:
    // `counters` are zero before and after a launch.
    HR_MEMBER explicit GridBarrier(tile::Counters* counters) : counters_(counters) {}

    // After their `wait`, all blocks see what threads of this block wrote before. The block's barrier makes those
    // writes visible to thread 0, and its release publishes them.
    HR_MEMBER void arrive() {
        __syncthreads();
        ++phase_;
        if (threadIdx.x == 0) add_release(&counters_->ticket);
    }
    HR_MEMBER void wait() {
        if (threadIdx.x == 0) {
            while (tile::load_acquire(&counters_->ticket) < phase_ * gridDim.x) {
            }
        }
        __syncthreads();
    }
    HR_MEMBER void arrive_and_wait() {
        arrive();
        wait();
    }

    // Resets the counters at the end of a launch. All threads call it.
    HR_MEMBER void end() {
        __syncthreads();
        if (threadIdx.x != 0) return;
        if (atomicInc(&counters_->ended, gridDim.x - 1) == gridDim.x - 1) tile::store_relaxed(&counters_->ticket, 0u);
    }

private:
    tile::Counters* counters_;
    u32 phase_ = 0;
};

}  // namespace headrace
