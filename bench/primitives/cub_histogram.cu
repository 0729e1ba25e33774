// Measures CUB for bench/primitives/gpu_histogram.py. Reads lines "even|range u32|float bins kind count" and prints the
// milliseconds of each, by the kernel and by the call. Keys are generated here by the same rules. By the call, edges
// are copied to the GPU each time. The package does not use this program.
#include <cstring>
#include <cub/cub.cuh>
#include <type_traits>

#include "../cub_timing.cuh"

// Kinds of keys: uniform, skewed, constant. Integers cover the range of their type, floats [0, 1024).
template <class Key>
__global__ void fill(Key* p, size_t n, int kind) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        if constexpr (std::is_same_v<Key, float>) {
            const float x = (mix(i) >> 40) * (1.0f / (1 << 24));
            p[i] = (kind == 0 ? x : kind == 1 ? x * x * x * x : 0.3f) * 1024.0f;
        } else {
            const uint32_t v = (uint32_t)mix(i);
            p[i] = kind == 0 ? v : kind == 1 ? v & (uint32_t)mix(i + n) & (uint32_t)mix(i + 2 * n) : 0x12345678u;
        }
    }
}

template <class Key>
static void measure(bool even, int bins, int kind, size_t n) {
    Key *in, *levels;
    unsigned* counts;
    cudaMalloc(&in, n * sizeof(Key));
    cudaMalloc(&counts, bins * 4);
    cudaMalloc(&levels, (bins + 1) * sizeof(Key));
    fill<<<4096, 256>>>(in, n, kind);
    constexpr bool floats = std::is_same_v<Key, float>;
    std::vector<Key> edges(bins + 1);
    for (int i = 0; i <= bins; ++i)
        edges[i] = floats ? Key((mix(i * 977) >> 40) * (1024.0 / (1 << 24))) : Key(mix(i * 977) >> 32);
    edges[0] = 0;
    edges[bins] = floats ? Key(1024) : Key(0xFFFFFFFFu);
    std::sort(edges.begin(), edges.end());
    const auto send_edges = [&] {
        if (!even) cudaMemcpyAsync(levels, edges.data(), edges.size() * sizeof(Key), cudaMemcpyHostToDevice);
    };
    send_edges();
    using Level = std::conditional_t<floats, float, unsigned long long>;
    const Level high = floats ? Level(1024) : Level(1ull << 32);
    const Times times = times_of(
        [&](void* t, size_t& b) {
            if (even) {
                cub::DeviceHistogram::HistogramEven(t, b, in, counts, bins + 1, Level(0), high, (long long)n);
            } else {
                cub::DeviceHistogram::HistogramRange(t, b, in, counts, bins + 1, levels, (long long)n);
            }
        },
        send_edges);
    std::vector<unsigned> found(bins);
    cudaMemcpy(found.data(), counts, bins * 4, cudaMemcpyDeviceToHost);
    size_t sum = 0;
    for (unsigned c : found) sum += c;
    const bool failed = cudaGetLastError() != cudaSuccess || sum + 8 < n;  // the highest key may be outside
    cudaFree(in);
    cudaFree(counts);
    cudaFree(levels);
    show(times, failed);
}

int main() {
    char how[8], key[8];
    int bins, kind;
    unsigned long long n;
    while (scanf("%7s %7s %d %d %llu", how, key, &bins, &kind, &n) == 5) {
        const bool even = strcmp(how, "even") == 0;
        if (strcmp(key, "float") == 0) {
            measure<float>(even, bins, kind, n);
        } else {
            measure<uint32_t>(even, bins, kind, n);
        }
    }
}
