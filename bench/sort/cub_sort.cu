// CUB's figures for bench/sort/gpu.py. Reads lines "keys|pairs bits ands n" and prints the milliseconds of each: a
// radix sort of keys of 4 or 8 bytes, alone or with values as wide. `ands`: how many uniform words are ANDed to a
// uniform word; -1: zeros. A peer that is measured, not a part of the package.
#include <cstring>
#include <cub/cub.cuh>

#include "../cub_timing.cuh"

template <class Word>
__global__ void fill(Word* p, size_t n, int ands) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        uint64_t word = ands < 0 ? 0 : mix(i);
        for (int a = 1; a <= ands; ++a) word &= mix(i + a * n);
        p[i] = (Word)word;
    }
}

template <class Word>
double sort_ms(bool pairs, int ands, size_t n) {
    Word *in, *out, *values, *moved;
    cudaMalloc(&in, n * sizeof(Word));
    cudaMalloc(&out, n * sizeof(Word));
    cudaMalloc(&values, n * sizeof(Word));
    cudaMalloc(&moved, n * sizeof(Word));
    fill<<<4096, 256>>>(in, n, ands);
    const double ms = median_ms([&](void* t, size_t& b) {
        if (pairs) {
            cub::DeviceRadixSort::SortPairs(t, b, in, out, values, moved, n);
        } else {
            cub::DeviceRadixSort::SortKeys(t, b, in, out, n);
        }
    });
    for (Word* p : {in, out, values, moved}) cudaFree(p);
    return cudaGetLastError() == cudaSuccess ? ms : -1.0;
}

int main() {
    char mode[8];
    int bits, ands;
    unsigned long long n;
    while (scanf("%7s %d %d %llu", mode, &bits, &ands, &n) == 4) {
        const bool pairs = strcmp(mode, "pairs") == 0;
        printf("%.6f\n", bits == 64 ? sort_ms<uint64_t>(pairs, ands, n) : sort_ms<uint32_t>(pairs, ands, n));
        fflush(stdout);
    }
}
