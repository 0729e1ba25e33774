// Finds equal rows of tables in host memory.
#pragma once
#include <vector>

#include "arrange/partition_rows/equal_rows.hpp"

namespace headrace {

// Rows of a table, by the columns that are compared. `are_exact`: rows of one hash are equal, so none are compared.
struct RowSet {
    std::vector<ComparedColumn> columns;
    const u64* hashes;
    u64 count;  // fewer than 2^32
    bool are_exact;
};

// Writes for each row the number of the first row that is equal to it. Nulls are equal to each other. `limit`: maximum
// bytes of tables, 0 for no limit; here and below.
void find_first_rows(const RowSet& rows, i64* firsts, u64 limit, unsigned threads);

// Writes for each row the number of the first equal row of another table, -1 if there is none. Nulls have no match.
void find_matching_rows(const RowSet& rows, const RowSet& other, i64* found, u64 limit, unsigned threads);

}  // namespace headrace
