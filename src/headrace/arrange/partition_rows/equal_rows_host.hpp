// Compares rows in host memory.
#pragma once
#include "arrange/partition_rows/equal_rows.hpp"

namespace headrace {

struct RowPairs {
    const i64* rows;    // of the one column
    const i64* others;  // of the other column
    u64 count;
    bool are_nulls_equal;
};

// Clears equal[i] unless the rows of pair i are equal. Both columns have texts, or values of one type. Bytes moved per
// pair of values of width w: 2 w + 17.
void compare_rows(const ComparedColumn& one, const ComparedColumn& other, const RowPairs& pairs, u8* equal,
                  unsigned threads);

}  // namespace headrace
