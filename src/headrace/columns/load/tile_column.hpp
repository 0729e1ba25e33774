// Stores a converted column of a tile at its place in the result, without the rows that faults remove.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "columns/buffers/column_buffers.hpp"
#include "columns/convert/cpu/convert.hpp"
#include "columns/dictionary/text_coder.hpp"

namespace headrace {

// Whether texts become codes tile by tile. The first tile with rows decides. If there are too many texts for the table,
// the following tiles are stored as strings.
enum class TextCoding : u8 { none, undecided, chosen, left };

// The codes of a column of texts, if they are few.
struct TextCodes {
    std::atomic<TextCoding> coding{TextCoding::none};
    Region region;
    std::unique_ptr<TextCoder> coder;
    std::vector<CodedTile> tiles;
};

// One column of a tile, until it has its place in the result.
struct TileColumn {
    usize column;
    ColumnCounts counts;
    std::vector<u64> nulls, bits;
    TextSpans texts;               // of strings
    u64 stored_string_bytes;       // of the rows that are not removed
    u64 string_base;               // offset of the bytes in the result
    const u8* values;              // of fixed width, if rows may be removed; null if the column is skipped
    std::vector<CodedTile> tiles;  // tiles of this worker whose texts are codes
};

// The rows of a tile and their place in the result.
struct StoredRows {
    usize rows;
    const std::vector<u64>& removed;  // bit i: row i is removed; empty if none is
    usize removed_rows;
    u64 row_base;
};

// Store the codes of texts, and return whether the table has all of them.
bool store_codes(TileColumn& part, const StoredRows& stored, FewTexts& known, const TextCodes& codes);
void store_strings(const TileColumn& part, const StoredRows& stored, const ConvertKernels& kernels,
                   LoadedColumn& column);
void store_values(const TileColumn& part, const StoredRows& stored, const LoadedColumn& column);

// Store booleans and null marks, and count the nulls. Changes the bits of `part`.
void store_bits(TileColumn& part, const StoredRows& stored, LoadedColumn& column, const Region& null_bits);

}  // namespace headrace
