// Hashes rows in host memory.
#pragma once
#include "arrange/partition_rows/hash_rows.hpp"

namespace headrace {

// Hashes that users see are the same in each process. Those of tables inside one process depend on its secret
// (`by_secret`), so that no rows can be chosen whose hashes are equal.

// Combines each row's value with its hash in `hashes`, which is 0 for all rows before the first column. Bytes moved per
// row: its value, and 16 for the hash. Different values of up to 8 bytes in one column have different hashes.
void hash_rows(const HashedColumn& column, u64 count, u64* hashes, bool by_secret, unsigned threads);

// Writes the words of rows without hashes, for the texts of a dictionary.
void hash_words(const HashedColumn& column, u64 count, u64* words, bool by_secret, unsigned threads);

}  // namespace headrace
