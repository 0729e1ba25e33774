// Measures CUB for bench/multisplit/tables.py. Reads lines "method keys|pairs bits kind count_bits n" and prints the
// milliseconds of each, by the kernel and by the call. `count_bits`: 32 or 64, the width of CUB's item count. Method
// "digit" is a radix sort by the highest bits alone, "sort" one by all bits. Two methods split by the highest bit.
// "partition" is DevicePartition::If, which reverses the second half. "select" is two calls of DeviceSelect::If, which
// keep the order. The package does not use this program.
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <cstring>
#include <cub/cub.cuh>

#include "../cub_timing.cuh"

// Kinds of keys: uniform, a quarter uniform and the rest in one bucket, binomial over the buckets, constant.
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

// Returns true if a key, or the key of a pair, has this highest bit.
template <uint32_t Bit>
struct HasBit {
    __host__ __device__ bool operator()(uint32_t key) const { return key >> 31 == Bit; }
    template <class Pair>
    __host__ __device__ bool operator()(const Pair& pair) const {
        return thrust::get<0>(pair) >> 31 == Bit;
    }
};

template <class Count, class In, class Out>
static Times in_two(bool stable, In in, Out out, Out rest, Count* counts, Count n) {
    return times_of([&](void* t, size_t& b) {
        if (!stable) {
            cub::DevicePartition::If(t, b, in, out, counts, n, HasBit<0>());
        } else {
            cub::DeviceSelect::If(t, b, in, out, counts, n, HasBit<0>());
            cub::DeviceSelect::If(t, b, in, rest, counts + 1, n, HasBit<1>());
        }
    });
}

template <class Count>
void measure(const char* method, bool pairs, int bits, int kind, Count n) {
    uint32_t *in = nullptr, *out = nullptr, *values = nullptr, *moved = nullptr;
    Count* counts = nullptr;
    const size_t bytes = size_t{4} * static_cast<size_t>(n);
    cudaMalloc(&in, bytes);
    cudaMalloc(&out, 2 * bytes);  // two halves, each of which may be as long as all
    cudaMalloc(&values, bytes);
    cudaMalloc(&moved, 2 * bytes);
    cudaMalloc(&counts, 2 * sizeof(Count));
    fill<<<4096, 256>>>(in, (size_t)n, bits, kind);
    const bool stable = strcmp(method, "select") == 0;
    const int first = strcmp(method, "sort") == 0 ? 0 : 32 - bits;
    Times found;
    if (stable || strcmp(method, "partition") == 0) {
        found = pairs ? in_two(stable, thrust::make_zip_iterator(thrust::make_tuple(in, values)),
                               thrust::make_zip_iterator(thrust::make_tuple(out, moved)),
                               thrust::make_zip_iterator(thrust::make_tuple(out + n, moved + n)), counts, n)
                      : in_two(stable, in, out, out + n, counts, n);
    } else {
        found = times_of([&](void* t, size_t& b) {
            if (pairs) {
                cub::DeviceRadixSort::SortPairs(t, b, in, out, values, moved, n, first, 32);
            } else {
                cub::DeviceRadixSort::SortKeys(t, b, in, out, n, first, 32);
            }
        });
    }
    for (void* p : {(void*)in, (void*)out, (void*)values, (void*)moved, (void*)counts}) cudaFree(p);
    show(found, cudaGetLastError() != cudaSuccess);
}

int main() {
    char method[16], mode[8];
    int bits, kind, count_bits;
    unsigned long long n;
    while (scanf("%15s %7s %d %d %d %llu", method, mode, &bits, &kind, &count_bits, &n) == 6) {
        const bool pairs = strcmp(mode, "pairs") == 0;
        if (count_bits == 32) {
            measure(method, pairs, bits, kind, (int)n);
        } else {
            measure(method, pairs, bits, kind, (long long)n);
        }
    }
}
