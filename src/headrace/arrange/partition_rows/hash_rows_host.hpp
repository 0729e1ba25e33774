// Hashes rows in host memory.
#pragma once
#include "arrange/partition_rows/hash_rows.hpp"

namespace headrace {

// Combines each row's value with its hash in `hashes`, which is the same for all rows before the first column. Bytes
// moved per row: its value, and 16 for the hash.
void hash_rows(const HashedColumn& column, u64 count, u64* hashes, unsigned threads);

// Writes the words of rows without hashes, for the texts of a dictionary.
void hash_words(const HashedColumn& column, u64 count, u64* words, unsigned threads);

}  // namespace headrace
