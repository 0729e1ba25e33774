// Calls each CUDA function of the harness once. A kernel stores its result, and the test compares it with the expected
// one.
#include "gpu/block/memory_access.cuh"

using headrace::u32;
using headrace::u64;

// 32 threads; row r of `out` is out[32 r ..].
extern "C" __global__ void votes(const u32* in, u32* out, u32 mask) {
    const u32 lane = threadIdx.x, value = in[lane];
    if (!(mask >> lane & 1)) return;
    out[lane] = __ballot_sync(mask, value & 1);
    out[32 + lane] = static_cast<u32>(__any_sync(mask, value == 3));
    out[64 + lane] = static_cast<u32>(__all_sync(mask, value < 8));
    out[96 + lane] = __match_any_sync(mask, value);
    int all;
    out[128 + lane] = __match_all_sync(mask, value >> 3, &all);
    out[160 + lane] = static_cast<u32>(all);
    out[192 + lane] = __match_all_sync(mask, value, &all);
    out[224 + lane] = static_cast<u32>(all);
    out[256 + lane] = __match_any_sync(mask, static_cast<u64>(value) << 40);
}

extern "C" __global__ void reductions(const u32* in, u32* out, u32 mask) {
    const u32 lane = threadIdx.x, value = in[lane];
    const int number = static_cast<int>(value);
    if (!(mask >> lane & 1)) return;
    out[lane] = __reduce_add_sync(mask, value);
    out[32 + lane] = __reduce_min_sync(mask, value);
    out[64 + lane] = __reduce_max_sync(mask, value);
    out[96 + lane] = __reduce_and_sync(mask, value);
    out[128 + lane] = __reduce_or_sync(mask, value);
    out[160 + lane] = __reduce_xor_sync(mask, value);
    out[192 + lane] = static_cast<u32>(__reduce_min_sync(mask, number));
    out[224 + lane] = static_cast<u32>(__reduce_max_sync(mask, number));
    out[256 + lane] = static_cast<u32>(__reduce_add_sync(mask, number));
}

extern "C" __global__ void shuffles(u32* out, u64* wide, double* real) {
    const u32 lane = threadIdx.x;
    out[lane] = __shfl_sync(~0u, lane, 5);
    out[32 + lane] = __shfl_sync(~0u, lane, 3, 8);
    out[64 + lane] = __shfl_up_sync(~0u, lane, 2);
    out[96 + lane] = __shfl_up_sync(~0u, lane, 2, 8);
    out[128 + lane] = __shfl_down_sync(~0u, lane, 3);
    out[160 + lane] = __shfl_down_sync(~0u, lane, 3, 16);
    out[192 + lane] = __shfl_xor_sync(~0u, lane, 5);
    out[224 + lane] = __shfl_xor_sync(~0u, lane, 12, 8);
    out[256 + lane] = static_cast<u32>(__shfl_sync(~0u, static_cast<unsigned char>(lane + 250), 7));
    wide[lane] = __shfl_xor_sync(~0u, static_cast<u64>(lane) << 40, 1);
    real[lane] = __shfl_sync(~0u, lane + 0.5, static_cast<int>(31 - lane));
}

// Lanes that took one branch are converged or not, but those in the mask are present.
extern "C" __global__ void active(u32* out) {
    const u32 lane = threadIdx.x;
    if (lane < 20) {
        const u32 mask = __activemask();
        out[lane] = __ballot_sync(mask, 1) == mask ? mask : 0;
    } else {
        out[lane] = __activemask();
    }
}

extern "C" __global__ void barriers(int* out) {
    const int one = threadIdx.x % 3 == 0;
    out[threadIdx.x] = __syncthreads_count(one);
    out[100 + threadIdx.x] = __syncthreads_or(threadIdx.x == 99);
    out[200 + threadIdx.x] = __syncthreads_and(threadIdx.x != 99);
    out[300 + threadIdx.x] = __syncthreads_and(1);
}

extern "C" __global__ void bits(const u32* in, u32* out) {
    const u32 a = in[0], b = in[1], s = in[2];
    const u64 both = static_cast<u64>(b) << 32 | a;
    u32 i = 0;
    out[i++] = static_cast<u32>(__popc(a));
    out[i++] = static_cast<u32>(__popcll(both));
    out[i++] = static_cast<u32>(__ffs(static_cast<int>(a)));
    out[i++] = static_cast<u32>(__ffsll(static_cast<long long>(both)));
    out[i++] = static_cast<u32>(__clz(static_cast<int>(a)));
    out[i++] = static_cast<u32>(__clzll(static_cast<long long>(both)));
    out[i++] = __brev(a);
    out[i++] = static_cast<u32>(__brevll(both) >> 32);
    out[i++] = static_cast<u32>(__brevll(both));
    out[i++] = __byte_perm(a, b, 0x7531);
    out[i++] = __byte_perm(a, b, 0x8F0A);
    out[i++] = __funnelshift_l(a, b, s);
    out[i++] = __funnelshift_r(a, b, s);
    out[i++] = __funnelshift_lc(a, b, s);
    out[i++] = __funnelshift_rc(a, b, s);
    out[i++] = __umulhi(a, b);
    out[i++] = static_cast<u32>(__mulhi(static_cast<int>(a), static_cast<int>(b)));
    out[i++] = static_cast<u32>(__umul64hi(both, both) >> 32);
    out[i++] = __float_as_uint(1.5f);
    out[i++] = static_cast<u32>(__double_as_longlong(1.5) >> 32);
    out[i++] = __ldg(&in[1]);
    out[i++] = min(a, b) ^ max(a, 7);
}

// in: previous value, operand, other; a row of out for each: the returned value, the new value.
extern "C" __global__ void atomics(u32* u, int* s, u64* w, float* f, double* d, unsigned short* h, u32* out) {
    u32 i = 0;
    out[i++] = atomicAdd(&u[0], 5u);
    out[i++] = atomicSub(&u[1], 5u);
    out[i++] = atomicMin(&u[2], 5u);
    out[i++] = atomicMax(&u[3], 5u);
    out[i++] = atomicAnd(&u[4], 6u);
    out[i++] = atomicOr(&u[5], 6u);
    out[i++] = atomicXor(&u[6], 6u);
    out[i++] = atomicExch(&u[7], 6u);
    out[i++] = atomicCAS(&u[8], 3u, 9u);
    out[i++] = atomicCAS(&u[9], 4u, 9u);
    out[i++] = atomicInc(&u[10], 3u);
    out[i++] = atomicInc(&u[11], 9u);
    out[i++] = atomicDec(&u[12], 9u);
    out[i++] = static_cast<u32>(atomicMin(&s[0], -5));
    out[i++] = static_cast<u32>(atomicMax(&s[1], -5));
    out[i++] = static_cast<u32>(atomicAdd(&s[2], -5));
    out[i++] = static_cast<u32>(atomicAdd(&w[0], 1ull << 40));
    out[i++] = static_cast<u32>(atomicMax(&w[1], 1ull << 40));
    out[i++] = static_cast<u32>(atomicCAS(&w[2], 3ull, 1ull << 50));
    out[i++] = static_cast<u32>(atomicExch(&w[3], 1ull << 40));
    out[i++] = static_cast<u32>(atomicAnd(&w[4], 1ull));
    out[i++] = static_cast<u32>(atomicAdd(&f[0], 0.5f));
    out[i++] = static_cast<u32>(atomicAdd(&d[0], 0.25));
    out[i++] = atomicCAS(&h[0], static_cast<unsigned short>(3), static_cast<unsigned short>(65535));
    out[i++] = atomicAdd_block(&u[13], 1u) + atomicOr_system(&u[13], 0u);
}

struct Pair {
    u32 first;
    u64 second;
};
extern "C" __global__ void parameters(u64* out, signed char a, u32 b, long long c, float d, double e, Pair f,
                                      const u32* g) {
    out[0] = static_cast<u64>(a);
    out[1] = b;
    out[2] = static_cast<u64>(c);
    out[3] = static_cast<u64>(d * 4);
    out[4] = static_cast<u64>(e * 4);
    out[5] = f.first;
    out[6] = f.second;
    out[7] = g == nullptr;
}

extern "C" __global__ void indices(u32* out) {
    const u32 block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const u32 thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] =
        block << 16 | threadIdx.x << 8 | threadIdx.y << 4 | threadIdx.z;
}

extern "C" __global__ void named_accesses(u32* a, u64* b, headrace::tile::WordPair* c, uint4* d) {
    using namespace headrace::tile;
    store_release(&a[1], load_acquire(&a[0]) + 1);
    store_relaxed(&a[2], load_relaxed(&a[1]) + 1);
    store_release(&b[1], load_acquire(&b[0]) + 1);
    const WordPair wide = load_acquire(&c[0]);
    store_release(&c[1], WordPair{wide.high, wide.low});
    store_streaming(&d[1], load_streaming(&d[0]));
}

// A flag that is a volatile variable of a structure; `template` shared memory, one variable for each type.
template <class T>
__device__ T block_sum(T value) {
    __shared__ T sums[32];
    for (unsigned distance = 16; distance; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
    __syncthreads();
    T all = 0;
    for (u32 warp = 0; warp < blockDim.x / 32; ++warp) all += sums[warp];
    __syncthreads();
    return all;
}
extern "C" __global__ void sums(const u32* in, u32* narrow, u64* wide, u32 rounds) {
    HR_DYNAMIC_SHARED(u32, own);
    for (u32 round = 0; round < rounds; ++round) {
        own[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x] + round;
        const u32 sum = block_sum(own[threadIdx.x]);
        const u64 large = block_sum(static_cast<u64>(own[threadIdx.x]) << 32);
        if (threadIdx.x == 0) atomicAdd(&narrow[round], sum);
        if (threadIdx.x == 0) atomicAdd(&wide[round], large);
    }
}

// A loop that the compiler may make a call of memset of, and a copy by name.
extern "C" __global__ void filled_and_copied(const u32* in, u32* out, u32 n) {
    __shared__ u32 values[256];
    if (threadIdx.x == 0) {
        for (u32 i = 0; i < n; ++i) values[i] = 0;
        memcpy(values, in, n / 2 * sizeof(u32));
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < n; i += blockDim.x) out[i] = values[i];
}

// Each thread of the grid in turn: thread i waits for i, then lets i + 1 go.
extern "C" __global__ void in_turn(volatile u32* next) {
    const u32 own = blockIdx.x * blockDim.x + threadIdx.x;
    while (*next != own) {
    }
    *next = own + 1;
}
