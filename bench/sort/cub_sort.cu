// Measures CUB for bench/sort/gpu.py. Reads lines "keys|pairs|floats bits ands count_bits n" and prints the
// milliseconds of each, by the kernel and by the call. A case is a radix sort of keys of 4 or 8 bytes, alone or with
// values as wide. `ands`: number of uniform words that are ANDed to a uniform word; -1: zeros. Floats are normal (0) or
// exponential (1). `count_bits`: 32 or 64, the width of the item count, for which CUB compiles different kernels. The
// package does not use this program.
#include <cstring>
#include <cub/cub.cuh>
#include <type_traits>

#include "../cub_timing.cuh"

template <class Word>
__global__ void fill(Word* p, size_t n, int ands) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        uint64_t word = ands < 0 ? 0 : mix(i);
        for (int a = 1; a <= ands; ++a) word &= mix(i + a * n);
        p[i] = (Word)word;
    }
}

static __device__ double unit(uint64_t i) { return ((double)(mix(i) >> 11) + 0.5) / 9007199254740992.0; }

// By the inverse of the distribution function, or by Box and Muller's method.
template <class Float>
__global__ void fill_floats(Float* p, size_t n, int is_exponential) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        const double decay = -log(unit(i));
        p[i] = (Float)(is_exponential ? decay : sqrt(2 * decay) * cospi(2 * unit(i + n)));
    }
}

template <class Word, class Count>
void measure(bool pairs, int ands, Count n) {
    Word *in, *out, *values, *moved;
    cudaMalloc(&in, n * sizeof(Word));
    cudaMalloc(&out, n * sizeof(Word));
    cudaMalloc(&values, n * sizeof(Word));
    cudaMalloc(&moved, n * sizeof(Word));
    if constexpr (std::is_floating_point_v<Word>) {
        fill_floats<<<4096, 256>>>(in, (size_t)n, ands);
    } else {
        fill<<<4096, 256>>>(in, (size_t)n, ands);
    }
    const Times found = times_of([&](void* t, size_t& b) {
        if constexpr (!std::is_floating_point_v<Word>) {
            if (pairs) return void(cub::DeviceRadixSort::SortPairs(t, b, in, out, values, moved, n));
        }
        cub::DeviceRadixSort::SortKeys(t, b, in, out, n);
    });
    for (Word* p : {in, out, values, moved}) cudaFree(p);
    show(found, cudaGetLastError() != cudaSuccess);
}

template <class Word>
void measure(bool pairs, int ands, int count_bits, unsigned long long n) {
    if (count_bits == 32) {
        measure<Word>(pairs, ands, (uint32_t)n);
    } else {
        measure<Word>(pairs, ands, (uint64_t)n);
    }
}

int main() {
    char mode[8];
    int bits, ands, count_bits;
    unsigned long long n;
    while (scanf("%7s %d %d %d %llu", mode, &bits, &ands, &count_bits, &n) == 5) {
        const bool pairs = strcmp(mode, "pairs") == 0, floats = strcmp(mode, "floats") == 0;
        if (floats && bits == 64) {
            measure<double>(pairs, ands, count_bits, n);
        } else if (floats) {
            measure<float>(pairs, ands, count_bits, n);
        } else if (bits == 64) {
            measure<uint64_t>(pairs, ands, count_bits, n);
        } else {
            measure<uint32_t>(pairs, ands, count_bits, n);
        }
    }
}
