// Shared code of the programs that measure CUB: pseudo-random numbers, and median times of a call by device events. As
// in bench/gpu_timing.py, times are by the kernel and by the call.
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

// Milliseconds. `kernel`: the device is kept busy until all work is launched. `call`: the device is idle before.
struct Times {
    double kernel = -1, call = -1;
};

template <class Work>
static double median_of(Work work, bool busy) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    std::vector<float> times;
    for (int i = 0; i < 11; ++i) {
        cudaDeviceSynchronize();
        if (busy) stay_busy<<<1, 1>>>(400'000);
        cudaEventRecord(begin);
        work();
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms = 0;
        cudaEventElapsedTime(&ms, begin, end);
        if (i > 1) times.push_back(ms);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

// Times a call. `call(memory, bytes)`: as in CUB, with null memory it sets `bytes` to the size that it needs. That
// memory is allocated once, before the clock starts. `prepare`: work before each call, which the time by the call
// includes. A failure remains the last error.
template <class Call, class Prepare>
static Times times_of(Call call, Prepare prepare) {
    size_t bytes = 0;
    void* memory = nullptr;
    call(nullptr, bytes);
    cudaMalloc(&memory, bytes);
    Times found;
    found.kernel = median_of([&] { call(memory, bytes); }, true);
    found.call = median_of(
        [&] {
            prepare();
            call(memory, bytes);
        },
        false);
    cudaFree(memory);
    if (cudaPeekAtLastError() != cudaSuccess) fprintf(stderr, "CUB: a call failed\n");
    return found;
}

template <class Call>
static Times times_of(Call call) {
    return times_of(call, [] {});
}

// Prints one line per case immediately, so that an interrupted run keeps its results.
static void show(Times found, bool failed) {
    printf("%.6f %.6f\n", failed ? -1 : found.kernel, failed ? -1 : found.call);
    fflush(stdout);
}
