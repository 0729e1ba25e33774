// Stores a converted column of a tile at its place in the result, without the rows that faults remove.
#pragma once

#include <memory>
#include <vector>

#include "columns/buffers/column_buffers.hpp"
#include "columns/convert/cpu/convert.hpp"
#include "columns/dictionary/thread_texts.hpp"

namespace headrace {

// One column of a tile, until it has its place in the result.
struct TileColumn {
    usize column;
    ColumnCounts counts;
    std::vector<u64> nulls, bits;
    TextSpans texts;                     // of strings
    u64 stored_string_bytes;             // of the rows that are not removed
    u64 string_base;                     // offset of the bytes in the result
    const u8* values;                    // of fixed width, if rows may be removed; null if the column is skipped
    std::unique_ptr<ThreadTexts> coded;  // of strings that become codes
};

// The rows of a tile and their place in the result.
struct StoredRows {
    usize rows;
    const std::vector<u64>& removed;  // bit i: row i is removed; empty if none is
    usize removed_rows;
    u64 row_base;
};

// Store the codes of at most `limit` rows in place of offsets; return the number of texts that are not null.
usize store_codes(TileColumn& part, const StoredRows& stored, FewTexts& known, const LoadedColumn& column,
                  usize limit = ~usize{0});
void store_strings(const TileColumn& part, const StoredRows& stored, const ConvertKernels& kernels,
                   LoadedColumn& column);
void store_values(const TileColumn& part, const StoredRows& stored, const LoadedColumn& column);

// Store booleans and null marks, and count the nulls. Changes the bits of `part`.
void store_bits(TileColumn& part, const StoredRows& stored, LoadedColumn& column, const Region& null_bits);

}  // namespace headrace
