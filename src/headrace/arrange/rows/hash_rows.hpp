// A hash of each row of a table in host memory, column by column: equal rows have equal ones on every machine.
#pragma once
#include "core/portable.hpp"

namespace headrace {

// Values of one column as Arrow has them, from row 0 on; `width`: bytes of a value, 0 for one bit, or of an offset
// where `offsets` is not null. `is_float`: of 4 or 8 bytes, so -0.0 is 0.0 and all NaN are one. Null values are alike.
struct HashedColumn {
    const void* values;
    const void* offsets;
    const u8* validity;  // bits, or null
    u64 first;           // row that is the first here
    unsigned width;
    bool is_float;
};

// Joins each row's value with what `hashes` has of it; before the first column all are equal. Bytes moved per row: its
// value, 16 of the hash.
void hash_rows(const HashedColumn& column, u64 count, u64* hashes, unsigned threads);

}  // namespace headrace
