// Kernels that each make one mistake, which the harness has to find, and beside some of them the same thing done right.
#include "gpu/block/memory_access.cuh"

using headrace::u32;
using headrace::u64;

extern "C" __global__ void missing_barrier(u32* out) {
    __shared__ u32 values[64];
    values[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = values[threadIdx.x ^ 32];
}

extern "C" __global__ void with_barrier(u32* out) {
    __shared__ u32 values[64];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x ^ 32];
}

// The second barrier is missing: a fast warp writes the next round's values while a slow one still reads.
extern "C" __global__ void missing_second_barrier(u32* out) {
    __shared__ u32 value[2];
    u32 sum = 0;
    for (u32 round = 0; round < 3; ++round) {
        if (threadIdx.x == 0) value[0] = round;
        __syncthreads();
        sum += value[0];
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void missing_syncwarp(u32* out) {
    __shared__ u32 values[32];
    values[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = values[threadIdx.x ^ 1];
}

extern "C" __global__ void with_syncwarp(u32* out) {
    __shared__ u32 values[32];
    values[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = values[threadIdx.x ^ 1];
}

// Counts by atomics need no barrier among themselves, but one before they are read.
extern "C" __global__ void count(u32* out, u32 barrier) {
    __shared__ u32 counts[2];
    if (threadIdx.x < 2) counts[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&counts[threadIdx.x & 1], 1u);
    if (barrier) __syncthreads();
    if (threadIdx.x < 2) out[threadIdx.x] = counts[threadIdx.x];
}

// A producer's warp raises a flag after a fence; that is no race.
extern "C" __global__ void flag(u32* out, u32 fences) {
    __shared__ u32 value;
    __shared__ volatile u32 ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = 7;
        if (fences) __threadfence_block();
        ready = 1;
    } else if (threadIdx.x == 32) {
        while (!ready) {
        }
        if (fences) __threadfence_block();
        out[0] = value;
    }
}

extern "C" __global__ void divergent_barrier(u32* out) {
    if (threadIdx.x < 32) {
        __syncthreads();
        out[threadIdx.x] = 1;
    } else {
        out[threadIdx.x] = 2;
        __syncthreads();
    }
}

extern "C" __global__ void barrier_and_vote(u32* out) {
    if (threadIdx.x < 16) __syncthreads();
    out[threadIdx.x] = __ballot_sync(~0u, 1);
}

extern "C" __global__ void different_votes(u32* out) {
    if (threadIdx.x & 1) {
        out[threadIdx.x] = __ballot_sync(~0u, 1);
    } else {
        out[threadIdx.x] = static_cast<u32>(__any_sync(~0u, 1));
    }
}

extern "C" __global__ void mask_without_me(u32* out) { out[threadIdx.x] = __ballot_sync(1u, 1); }

extern "C" __global__ void shuffle_from_nobody(u32* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xFFFFu, threadIdx.x, 20);
}

extern "C" __global__ void mask_of_others(u32* out) {
    if (threadIdx.x < 16) out[threadIdx.x] = __ballot_sync(~0u, 1);
    if (threadIdx.x == 20) __syncthreads();
}

extern "C" __global__ void spin(const volatile u32* flag) {
    while (*flag == 0) {
    }
}

// Some lanes of a block look, and all vote: by warps, by the block. One block of the grid may raise the flag.
extern "C" __global__ void look_and_vote(volatile u32* flag, u32 raiser, u32 by_block) {
    if (blockIdx.x == raiser) {
        *flag = 1;
        return;
    }
    bool seen = false;
    while (!seen) {
        if (threadIdx.x % 32 < 8) seen = *flag != 0;
        seen = by_block ? __syncthreads_or(seen) != 0 : __any_sync(~0u, seen) != 0;
    }
}

// The same as `spin` without volatile: the compiler reads once.
extern "C" __global__ void hoisted_spin(const u32* flag, u32* out) {
    u32 turns = 0;
    while (*flag == 0) turns += 1;
    *out = turns;
}

extern "C" __global__ void lock_of_a_warp(u32* lock, u32* out) {
    while (atomicCAS(lock, 0u, 1u) != 0) {
    }
    *out += 1;
    __syncwarp();
    atomicExch(lock, 0u);
}

extern "C" __global__ void uninitialised(u32* out) {
    __shared__ u32 values[64];
    if (threadIdx.x != 5) values[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x];
}

extern "C" __global__ void behind_array(u32* array, u32 place) { array[place] = 1; }

extern "C" __global__ void behind_shared(u32* out, u32 place) {
    __shared__ u32 first[16];
    __shared__ u32 second[16];
    u32* p = threadIdx.x ? first : second;
    p[place] = 1;
    out[threadIdx.x] = p[place];
}

extern "C" __global__ void behind_declared(u32* out, u32 place) {
    __shared__ u32 values[16];
    values[place] = 1;
    out[0] = values[place];
}

extern "C" __global__ void behind_dynamic(u32 place) {
    HR_DYNAMIC_SHARED(u32, values);
    values[place] = 1;
}

extern "C" __global__ void misaligned(const u32* in, uint4* out, u32 place) {
    *out = *reinterpret_cast<const uint4*>(in + place);
}

extern "C" __global__ void misaligned_word(u32* words, u32 place, u32 writes) {
    u64* const word = reinterpret_cast<u64*>(words + place);
    if (writes != 0) {
        *word = 1;
    } else {
        words[0] = static_cast<u32>(*word);
    }
}

struct alignas(16) Large {
    u32 words[8];
};

extern "C" __global__ void misaligned_struct(const u32* in, Large* out, u32 place) {
    *out = *reinterpret_cast<const Large*>(in + place);
}

extern "C" __global__ void write_to_input(const u32* in) { const_cast<u32*>(in)[0] = 1; }

extern "C" __global__ void others_locals(u32* out) {
    __shared__ u32* shared;
    u32 local[4] = {threadIdx.x, 0, 0, 0};
    if (threadIdx.x == 0) shared = local;
    __syncthreads();
    out[threadIdx.x] = shared[out[0] & 3];
    __syncthreads();
    out[threadIdx.x] += local[out[0] & 3];
}

__device__ __noinline__ u32 deep(u32* out, u32 depth) {
    volatile u32 local[256];
    local[depth & 255] = depth;
    return depth == 0 ? local[0] : deep(out, depth - 1) + local[depth & 255];
}
extern "C" __global__ void deep_recursion(u32* out, u32 depth) { *out = deep(out, depth); }

extern "C" __global__ void stops_itself(u32 stop) {
    if (stop == threadIdx.x) __trap();
}

extern "C" __global__ void wide_shift(u32* out, u32 by) { *out = 1u << by; }

// Block 0 writes a value, then raises a flag; the others wait for the flag, then read. Without the fence the value may
// come later than the flag.
extern "C" __global__ void publish(u32* value, u32* flag, u32* out, u32 fences) {
    if (blockIdx.x == 0) {
        value[threadIdx.x] = 7;
        __syncthreads();
        if (threadIdx.x != 0) return;
        if (fences) __threadfence();
        atomicExch(flag, 1u);
    } else {
        while (atomicAdd(flag, 0u) == 0) {
        }
        __threadfence();
        out[blockIdx.x * blockDim.x + threadIdx.x] = value[threadIdx.x];
    }
}

// Threads of a block exchange values through an array.
extern "C" __global__ void exchange(u32* room, u32* out, u32 barrier) {
    room[threadIdx.x] = threadIdx.x;
    if (barrier) __syncthreads();
    out[threadIdx.x] = room[threadIdx.x ^ 32];
}
