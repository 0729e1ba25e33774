// CUB's figures for bench/multisplit/tables.py. Reads lines "method keys|pairs bits kind n" and prints the milliseconds
// of each: "digit" is a radix sort by the highest bits alone, "sort" one by all, "partition" a partition in two by the
// highest bit. A peer that is measured, not a part of the package.
#include <cstring>
#include <cub/cub.cuh>

#include "../cub_timing.cuh"

// Kinds: uniform, a quarter uniform and the rest in one bucket, binomial over the buckets, constant.
__global__ void fill(uint32_t* p, size_t n, int bits, int kind) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        const uint32_t v = (uint32_t)mix(i);
        const uint32_t low = bits == 32 ? 0 : v & (0xFFFFFFFFu >> bits);
        uint32_t ones = 0;
        if (kind == 2) {
            for (int left = (1 << bits) - 1, w = 0; left > 0; left -= 64, ++w)
                ones += __popcll(mix(i * 4 + w + n) & (left >= 64 ? ~0ull : (1ull << left) - 1));
        }
        if (kind == 0) p[i] = v;
        if (kind == 1) p[i] = mix(i + n) % 4 == 0 ? v : low | (0x5A5A5A5Au & ~(0xFFFFFFFFu >> bits));
        if (kind == 2) p[i] = ones << (32 - bits) | low;
        if (kind == 3) p[i] = 0x12345678u;
    }
}

struct IsLow {
    __host__ __device__ bool operator()(uint32_t key) const { return key >> 31 == 0; }
};

int main() {
    char method[16], mode[8];
    int bits, kind;
    unsigned long long n;
    while (scanf("%15s %7s %d %d %llu", method, mode, &bits, &kind, &n) == 5) {
        uint32_t *in, *out, *values, *moved;
        int* count;
        cudaMalloc(&in, n * 4);
        cudaMalloc(&out, n * 4);
        cudaMalloc(&values, n * 4);
        cudaMalloc(&moved, n * 4);
        cudaMalloc(&count, 4);
        fill<<<4096, 256>>>(in, n, bits, kind);
        const bool pairs = strcmp(mode, "pairs") == 0;
        const int first = strcmp(method, "sort") == 0 ? 0 : 32 - bits;
        const double ms = median_ms([&](void* t, size_t& b) {
            if (strcmp(method, "partition") == 0) {
                cub::DevicePartition::If(t, b, in, out, count, (int)n, IsLow());
            } else if (pairs) {
                cub::DeviceRadixSort::SortPairs(t, b, in, out, values, moved, (int)n, first, 32);
            } else {
                cub::DeviceRadixSort::SortKeys(t, b, in, out, (int)n, first, 32);
            }
        });
        printf("%.6f\n", cudaGetLastError() == cudaSuccess ? ms : -1.0);
        fflush(stdout);
        for (void* p : {(void*)in, (void*)out, (void*)values, (void*)moved, (void*)count}) cudaFree(p);
    }
}
