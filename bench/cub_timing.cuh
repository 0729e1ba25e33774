// What the programs that measure CUB share: numbers that look random, and the median of a call by device events, with
// the card kept busy before, so that what the host takes to launch is not timed, as in bench/gpu_timing.py.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

static __host__ __device__ __forceinline__ uint64_t mix(uint64_t z) {
    z += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static __global__ void stay_busy(long long cycles) {
    const long long began = clock64();
    while (clock64() - began < cycles) {
    }
}

// `call(memory, bytes)` as CUB's: with null memory it tells how many bytes it needs. A failure stays the last error.
template <class Call>
static double median_ms(Call call) {
    size_t bytes = 0;
    void* memory = nullptr;
    call(nullptr, bytes);
    cudaMalloc(&memory, bytes);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    std::vector<float> times;
    for (int i = 0; i < 11; ++i) {
        stay_busy<<<1, 1>>>(400'000);
        cudaEventRecord(begin);
        call(memory, bytes);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0;
        cudaEventElapsedTime(&ms, begin, end);
        if (i > 1) times.push_back(ms);
    }
    cudaFree(memory);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    if (cudaPeekAtLastError() != cudaSuccess) fprintf(stderr, "CUB: a call failed\n");
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}
