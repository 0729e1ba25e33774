// Hashes rows, one thread per row: the GPU counterpart of arrange/partition_rows/hash_rows.cpp. Bytes moved per row:
// its value, and 16 for the hash.
#include "arrange/partition_rows/hash_rows.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

static __device__ __forceinline__ u64 thread_row() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

// Joins each row's value with what `hashes` has of it.
extern "C" __global__ void __launch_bounds__(threads) hash_rows(HashedColumn column, u64 count, u64* hashes) {
    const u64 row = thread_row();
    if (row < count) hashes[row] = combine_hash(hashes[row], word_at(column, row));
}

// The words of rows by themselves: what a dictionary's texts add.
extern "C" __global__ void __launch_bounds__(threads) hash_words(HashedColumn column, u64 count, u64* words) {
    const u64 row = thread_row();
    if (row < count) words[row] = word_at(column, row);
}
