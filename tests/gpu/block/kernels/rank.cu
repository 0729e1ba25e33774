// Ranks of digits of 5 bits: of one warp by match, two rows of keys one after the other; of a block by atomics.
#include "gpu/block/digit_rank.cuh"

using headrace::u32;

extern "C" __global__ void by_match(const u32* digits, u32* ranks, u32* counts) {
    __shared__ u32 counters[32];
    counters[threadIdx.x] = 0;
    __syncwarp();
    for (u32 row = 0; row < 4; ++row) {
        const u32 i = row * 32 + threadIdx.x;
        ranks[i] = headrace::tile::rank_by_match<5>(digits[i], counters);
    }
    __syncwarp();
    counts[threadIdx.x] = counters[threadIdx.x];
}

extern "C" __global__ void by_atomics(const u32* digits, u32* ranks) {
    __shared__ u32 counters[32];
    if (threadIdx.x < 32) counters[threadIdx.x] = 0;
    __syncthreads();
    ranks[threadIdx.x] = headrace::tile::rank_by_atomics(digits[threadIdx.x], counters);
}
