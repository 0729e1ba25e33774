// Compares rows of columns in host memory, by the rules of hash_rows.hpp: equal rows have equal hashes. So -0.0 equals
// 0.0, all NaN are equal, and texts are equal whatever their layout.
#pragma once
#include "arrange/partition_rows/hash_rows.hpp"

namespace headrace {

// A column, and for a dictionary the column of its texts.
struct ComparedColumn {
    HashedColumn column;
    const HashedColumn* texts;
};

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
