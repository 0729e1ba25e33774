// Packs rows of several columns into texts whose order is that of the rows, column by column. Rows are equal if their
// texts are.
//
//     int32 -2, string "ab", int32 1   ->   7F FF FF FE | 61 62 00 00 | 80 00 00 01
//
// A number is its code (sort_key.hpp), the highest byte first. A byte 0 of a text becomes 0 FF, and 0 0 ends the text.
#pragma once
#include <functional>
#include <vector>

#include "arrange/partition_rows/equal_rows.hpp"

namespace headrace {

// A column without nulls: texts of any layout, or numbers of 4 or 8 bytes with the words of their `KeyRule`.
struct PackedColumn {
    ComparedColumn values;
    u64 fold;
    u64 toggle;
};

// Writes the end of each row's text after `ends[0]`, which is 0, and the texts to the memory that `allocate` returns
// for their bytes. Bytes moved per row: its values twice, its text, and 16.
void pack_rows(const std::vector<PackedColumn>& columns, u64 count, u64* ends, const std::function<u8*(u64)>& allocate,
               unsigned threads);

}  // namespace headrace
