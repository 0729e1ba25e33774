// CUB's figures for bench/primitives/gpu.py: the same sizes and kinds of input. A peer that is measured, not a part of
// the package.
#include <chrono>
#include <cub/cub.cuh>

#include "../cub_timing.cuh"

__global__ void fill(uint32_t* p, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        p[i] = (uint32_t)mix(i);
}
__global__ void flag(uint8_t* p, size_t n, unsigned share) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        p[i] = (uint32_t)mix(i * 3 + 1) % 100 < share;
}

// Microseconds of a call, one behind the other.
template <class Call>
double us_per_call(Call call) {
    size_t bytes = 0;
    void* memory = nullptr;
    call(nullptr, bytes);
    cudaMalloc(&memory, bytes);
    const int calls = 2000;
    for (int i = 0; i < 20; ++i) call(memory, bytes);
    cudaDeviceSynchronize();
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call(memory, bytes);
    cudaDeviceSynchronize();
    const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - began;
    cudaFree(memory);
    return passed.count() / calls;
}

void show_small(const uint32_t* in, const uint8_t* flags, uint32_t* out, unsigned* selected) {
    for (size_t n : {256, 4096, 65536, 262144}) {
        const double scan = us_per_call([&](void* t, size_t& b) { cub::DeviceScan::InclusiveSum(t, b, in, out, n); });
        const double reduce = us_per_call([&](void* t, size_t& b) { cub::DeviceReduce::Sum(t, b, in, out, n); });
        const double select =
            us_per_call([&](void* t, size_t& b) { cub::DeviceSelect::Flagged(t, b, in, flags, out, selected, n); });
        printf("CUB, %6zu KiB of u32: scan %5.1f us, reduce %5.1f us, select %5.1f us a call from C++\n", n / 256, scan,
               reduce, select);
    }
}

int main() {
    const size_t n = 1ull << 28;
    uint32_t *in, *out;
    uint8_t* flags;
    unsigned* counts;
    cudaMalloc(&in, n * 4);
    cudaMalloc(&out, n * 4);
    cudaMalloc(&flags, n);
    cudaMalloc(&counts, 65537 * 4);
    fill<<<4096, 256>>>(in, n);
    const auto show = [&](const char* what, double ms, double bytes) {
        printf("CUB %-28s %7.1f G/s %6.0f GB/s\n", what, n / ms / 1e6, bytes / ms / 1e6);
    };
    show("scan sum u32", median_ms([&](void* t, size_t& b) { cub::DeviceScan::InclusiveSum(t, b, in, out, n); }),
         8. * n);
    show("reduce sum u32", median_ms([&](void* t, size_t& b) { cub::DeviceReduce::Sum(t, b, in, out, n); }), 4. * n);
    for (unsigned share : {1u, 50u, 99u}) {
        flag<<<4096, 256>>>(flags, n, share);
        char name[40];
        snprintf(name, sizeof(name), "select %u %% of u32", share);
        show(name, median_ms([&](void* t, size_t& b) { cub::DeviceSelect::Flagged(t, b, in, flags, out, counts, n); }),
             n * (1 + 8. * share / 100));
    }
    show_small(in, flags, out, counts);
}
