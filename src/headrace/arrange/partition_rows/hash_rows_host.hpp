// Hashes rows in host memory.
#pragma once
#include "arrange/partition_rows/hash_rows.hpp"

namespace headrace {

// Returns the secret of this process, which is not 0.
u64 process_secret();

// Combines each row's value with its hash in `hashes`, which is 0 for all rows before the first column. `by_secret`:
// with the process's secret. Bytes moved per row: its value, and 16 for the hash. Different values of up to 8 bytes in
// one column have different hashes.
void hash_rows(const HashedColumn& column, u64 count, u64* hashes, bool by_secret, unsigned threads);

// Writes the words of rows without hashes, for the texts of a dictionary.
void hash_words(const HashedColumn& column, u64 count, u64* words, bool by_secret, unsigned threads);

}  // namespace headrace
