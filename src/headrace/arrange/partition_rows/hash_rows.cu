// Hashes rows, one thread per row: the GPU counterpart of arrange/partition_rows/hash_rows.cpp. Bytes moved per row:
// its value, and 16 for the hash.
#include "arrange/partition_rows/hash_rows.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

HR_FN u64 thread_row() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

HR_FN u64 word_of(const HashedColumn& column, u64 row, u64 secret) {
    return secret == 0 ? word_at(column, row) : secret_word_at(column, row, secret);
}

// Joins each row's value with what `hashes` has of it. `secret`: 0 for hashes that are the same in each process.
extern "C" __global__ void __launch_bounds__(threads)
    hash_rows(HashedColumn column, u64 count, u64 secret, u64* hashes) {
    const u64 row = thread_row();
    if (row >= count) return;
    const u64 word = word_of(column, row, secret);
    hashes[row] = secret == 0 ? combine_hash(hashes[row], word) : combine_by_secret(hashes[row], word, secret);
}

// The words of rows by themselves: what a dictionary's texts add.
extern "C" __global__ void __launch_bounds__(threads)
    hash_words(HashedColumn column, u64 count, u64 secret, u64* words) {
    const u64 row = thread_row();
    if (row < count) words[row] = word_of(column, row, secret);
}
