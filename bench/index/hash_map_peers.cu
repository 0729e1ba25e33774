// Measures hash maps of others on a GPU: cuCollections' static_map and BGHT's bcht, with keys and values of 4 bytes, at
// loads of 0.5 and 0.8. Prints 10^9 a second by the call. The package does not use this program.
//
//     nvcc -std=c++17 -O3 -arch=sm_90 --expt-relaxed-constexpr --extended-lambda -I cuCollections/include
//         -I BGHT/include -o hash_map_peers bench/index/hash_map_peers.cu
//     hash_map_peers 26 22                       # logarithms of the numbers of keys
//
// It was compiled with cuCollections dc0f9fc2, BGHT 7584547 and CUDA 13.0.
#include <cuda/std/utility>
namespace thrust {
// cuCollections of 2024 uses it, and CCCL 3 does not have it.
template <class Item = void>
struct identity {
    template <class Given>
    __host__ __device__ Given&& operator()(Given&& item) const {
        return static_cast<Given&&>(item);
    }
};
}  // namespace thrust
#include <thrust/device_vector.h>

#include <bght/bcht.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuco/static_map.cuh>
#include <cuda/functional>

#include "../cub_timing.cuh"

using Word = std::uint32_t;

// Returns distinct keys for distinct numbers, as keys_of() of hash_map_gpu.py.
__device__ __host__ Word key_of(std::uint64_t number) {
    std::uint64_t mixed = (number * 0x9E3779B1) & 0xFFFFFFFF;
    mixed = mixed ^ (mixed >> 15);
    return static_cast<Word>((mixed * 0x85EBCA77) & 0xFFFFFFFF);
}

__device__ std::uint64_t first_row() { return blockIdx.x * static_cast<std::uint64_t>(blockDim.x) + threadIdx.x; }
__device__ std::uint64_t row_step() { return static_cast<std::uint64_t>(gridDim.x) * blockDim.x; }

// A number for each position, in another order. `n`: a power of two.
__device__ std::uint64_t shuffled(std::uint64_t i, std::uint64_t n) { return (i * 40503 + 12345) & (n - 1); }

template <class Pair>
__global__ void fill(Word* keys, Word* absent, Pair* pairs, std::uint64_t n) {
    for (std::uint64_t i = first_row(); i < n; i += row_step()) {
        keys[i] = key_of(1 + shuffled(i, n));
        absent[i] = key_of(1 + n + i);
        pairs[i].first = key_of(1 + i);
        pairs[i].second = static_cast<Word>(i);
    }
}
__global__ void check(const Word* values, std::uint64_t n, bool present, unsigned long long* wrong) {
    for (std::uint64_t i = first_row(); i < n; i += row_step()) {
        const Word expected = present ? static_cast<Word>(shuffled(i, n)) : ~Word{0};
        if (values[i] != expected) atomicAdd(wrong, 1ull);
    }
}

template <class Build, class Find>
void report(const char* name, std::uint64_t n, double load, Word* keys, Word* absent, Build build, Find find) {
    thrust::device_vector<Word> values(n);
    thrust::device_vector<unsigned long long> wrong(1);
    Word* const out = thrust::raw_pointer_cast(values.data());
    for (int present = 1; present >= 0; --present) {
        find(present ? keys : absent, out);
        check<<<4096, 256>>>(out, n, present, thrust::raw_pointer_cast(wrong.data()));
    }
    if (wrong[0] != 0) {
        std::printf("%s: %llu wrong answers\n", name, static_cast<unsigned long long>(wrong[0]));
        std::exit(1);
    }
    const double built = median_of(build, false), present = median_of([&] { find(keys, out); }, false),
                 missing = median_of([&] { find(absent, out); }, false);
    std::printf("| %s | %llu | %.2f | %.2f | %.2f | %.2f |\n", name, static_cast<unsigned long long>(n), load,
                n / built / 1e6, n / present / 1e6, n / missing / 1e6);
    std::fflush(stdout);
}

void measure_cuco(std::uint64_t n, double load, Word* keys, Word* absent) {
    using Pair = cuco::pair<Word, Word>;
    thrust::device_vector<Pair> pairs(n);
    Pair* const first = thrust::raw_pointer_cast(pairs.data());
    fill<<<4096, 256>>>(keys, absent, first, n);
    auto map = cuco::static_map{static_cast<std::size_t>(std::ceil(n / load)), cuco::empty_key<Word>{~Word{0}},
                                cuco::empty_value<Word>{~Word{0}}};
    const auto build = [&] {
        map.clear_async();
        map.insert_async(first, first + n);
    };
    build();
    report("cuCollections static_map", n, load, keys, absent, build,
           [&](Word* some, Word* out) { map.find_async(some, some + n, out); });
}

void measure_bght(std::uint64_t n, double load, Word* keys, Word* absent) {
    using Map = bght::bcht<Word, Word>;
    thrust::device_vector<Map::value_type> pairs(n);
    Map::value_type* const first = thrust::raw_pointer_cast(pairs.data());
    fill<<<4096, 256>>>(keys, absent, first, n);
    Map map(static_cast<std::size_t>(std::ceil(n / load)), ~Word{0}, ~Word{0});
    const auto build = [&] {
        map.clear();
        map.insert(first, first + n);
    };
    build();
    report("BGHT bcht", n, load, keys, absent, build, [&](Word* some, Word* out) { map.find(some, some + n, out); });
}

int main(int count, char** words) {
    std::printf(
        "| map | keys | load | build | find present | find absent |\n| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for (int word = 1; word < count; ++word) {
        const std::uint64_t n = 1ull << std::atoi(words[word]);
        thrust::device_vector<Word> keys(n), absent(n);
        for (const double load : {0.5, 0.8}) {
            measure_cuco(n, load, thrust::raw_pointer_cast(keys.data()), thrust::raw_pointer_cast(absent.data()));
            measure_bght(n, load, thrust::raw_pointer_cast(keys.data()), thrust::raw_pointer_cast(absent.data()));
        }
    }
}
