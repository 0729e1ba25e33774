// Kernels that repeat one operation `rounds` times per thread, to measure the fiber harness (bench/fibers.py).
using u32 = unsigned int;

extern "C" __global__ void barriers(const u32*, u32* out, u32 rounds) {
    for (u32 i = 0; i < rounds; ++i) __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = rounds;
}

extern "C" __global__ void ballots(const u32*, u32* out, u32 rounds) {
    u32 sum = 0;
    for (u32 i = 0; i < rounds; ++i) sum += __ballot_sync(~0u, (threadIdx.x + i) & 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void shuffles(const u32*, u32* out, u32 rounds) {
    u32 value = threadIdx.x;
    for (u32 i = 0; i < rounds; ++i) value += __shfl_xor_sync(~0u, value, 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

extern "C" __global__ void global_loads(const u32* in, u32* out, u32 rounds) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    u32 sum = 0;
    for (u32 i = 0; i < rounds; ++i) sum += in[thread ^ (i & 15)];
    out[thread] = sum;
}

extern "C" __global__ void shared_loads(const u32*, u32* out, u32 rounds) {
    __shared__ u32 values[1024];
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    u32 sum = 0;
    for (u32 i = 0; i < rounds; ++i) sum += values[threadIdx.x ^ (i & 15)];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void atomics(const u32*, u32* out, u32 rounds) {
    for (u32 i = 0; i < rounds; ++i) atomicAdd(&out[(threadIdx.x * 7 + i) % 1024], 1u);
}

extern "C" __global__ void nothing(const u32*, u32*, u32) {}
