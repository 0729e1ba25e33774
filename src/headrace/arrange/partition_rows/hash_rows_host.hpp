// Hashes of rows of host memory.
#pragma once
#include "arrange/partition_rows/hash_rows.hpp"

namespace headrace {

// Joins each row's value with what `hashes` has of it; before the first column all are equal. Bytes moved per row: its
// value, 16 of the hash.
void hash_rows(const HashedColumn& column, u64 count, u64* hashes, unsigned threads);

// The words of rows by themselves: what a dictionary's texts add.
void hash_words(const HashedColumn& column, u64 count, u64* words, unsigned threads);

}  // namespace headrace
