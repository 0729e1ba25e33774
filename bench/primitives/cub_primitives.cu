// Measures CUB for bench/primitives/gpu.py and gpu_called.py. Reads lines "scan|reduce|select percent count_bits n" and
// prints the milliseconds of each, by the kernel and by the call. `count_bits`: 32 or 64, the width of CUB's item
// count. With the argument "small", it prints the microseconds of consecutive calls on short arrays. The package does
// not use this program.
#include <chrono>
#include <cstring>
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

// Returns the microseconds of a call, for consecutive calls.
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

void show_small() {
    const size_t most = 1 << 20;
    uint32_t *in, *out;
    uint8_t* flags;
    unsigned* selected;
    cudaMalloc(&in, most);
    cudaMalloc(&out, most);
    cudaMalloc(&flags, most);
    cudaMalloc(&selected, 4);
    fill<<<4096, 256>>>(in, most / 4);
    flag<<<4096, 256>>>(flags, most / 4, 99);
    for (size_t n : {256, 4096, 65536, 262144}) {
        const double scan = us_per_call([&](void* t, size_t& b) { cub::DeviceScan::InclusiveSum(t, b, in, out, n); });
        const double reduce = us_per_call([&](void* t, size_t& b) { cub::DeviceReduce::Sum(t, b, in, out, n); });
        const double select =
            us_per_call([&](void* t, size_t& b) { cub::DeviceSelect::Flagged(t, b, in, flags, out, selected, n); });
        printf("CUB, %6zu KiB of u32: scan %5.1f us, reduce %5.1f us, select %5.1f us a call from C++\n", n / 256, scan,
               reduce, select);
    }
}

template <class Count>
void measure(const char* what, unsigned percent, Count n) {
    uint32_t *in, *out;
    uint8_t* flags;
    unsigned* selected;
    cudaMalloc(&in, n * 4);
    cudaMalloc(&out, n * 4);
    cudaMalloc(&flags, n);
    cudaMalloc(&selected, 4);
    fill<<<4096, 256>>>(in, (size_t)n);
    flag<<<4096, 256>>>(flags, (size_t)n, percent);
    const Times found = times_of([&](void* t, size_t& b) {
        if (strcmp(what, "scan") == 0) {
            cub::DeviceScan::InclusiveSum(t, b, in, out, n);
        } else if (strcmp(what, "reduce") == 0) {
            cub::DeviceReduce::Sum(t, b, in, out, n);
        } else {
            cub::DeviceSelect::Flagged(t, b, in, flags, out, selected, n);
        }
    });
    for (void* p : {(void*)in, (void*)out, (void*)flags, (void*)selected}) cudaFree(p);
    show(found, cudaGetLastError() != cudaSuccess);
}

int main(int argc, char** argv) {
    if (argc > 1 && strcmp(argv[1], "small") == 0) {
        show_small();
        return 0;
    }
    char what[8];
    unsigned percent;
    int count_bits;
    unsigned long long n;
    while (scanf("%7s %u %d %llu", what, &percent, &count_bits, &n) == 4) {
        if (count_bits == 32) {
            measure(what, percent, (int)n);
        } else {
            measure(what, percent, (long long)n);
        }
    }
}
