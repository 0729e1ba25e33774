// Blocks of one launch that wait for each other. All must be resident, so the launch is cooperative (`LaunchMode` in
// gpu/kernels/kernel.py) and has no more blocks than the card has multiprocessors. A meeting costs about a microsecond;
// what a block does between telling that it has come and waiting for the others is free.
#pragma once
#include "gpu/block/look_back.cuh"

namespace headrace {

// One more, behind all that this thread has seen done: a release, for which a fence of the strictest kind would take
// twice as long.
static __device__ __forceinline__ void add_release(u32* counter) {
#if defined(__CUDACC__)
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
#else
    __threadfence();
    atomicAdd(counter, 1u);
#endif
}

class GridBarrier {
public:
    // `counters` are zero before a launch and behind it.
    __device__ __forceinline__ explicit GridBarrier(tile::Counters* counters) : counters_(counters) {}

    // What threads of this block wrote before, all blocks may read behind their `wait`: the release of the one thread
    // that tells has behind it what a barrier has brought to it.
    __device__ __forceinline__ void arrive() {
        __syncthreads();
        ++phase_;
        if (threadIdx.x == 0) add_release(&counters_->ticket);
    }
    __device__ __forceinline__ void wait() {
        if (threadIdx.x == 0) {
            while (tile::load_acquire(&counters_->ticket) < phase_ * gridDim.x) {
            }
        }
        __syncthreads();
    }
    __device__ __forceinline__ void arrive_and_wait() {
        arrive();
        wait();
    }

    // By all threads, at the end of a launch.
    __device__ __forceinline__ void end() {
        __syncthreads();
        if (threadIdx.x != 0) return;
        if (atomicInc(&counters_->ended, gridDim.x - 1) == gridDim.x - 1) tile::store_relaxed(&counters_->ticket, 0u);
    }

private:
    tile::Counters* counters_;
    u32 phase_ = 0;
};

}  // namespace headrace
