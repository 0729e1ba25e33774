// Joins the dictionaries of threads that have encoded parts of one column.
#pragma once

#include <memory>
#include <vector>

#include "columns/dictionary/dictionary.hpp"
#include "columns/dictionary/thread_texts.hpp"

namespace headrace {

// The rows of a tile.
struct CodedRows {
    u64 begin = 0, count = 0;
};

// The texts of one thread, and the tiles whose rows have its codes.
struct ThreadCodes {
    std::vector<CodedRows> tiles;
    std::vector<std::unique_ptr<ThreadTexts>> columns;  // by column; null for those without codes
};

// A column's codes, and its null marks (bit 1: null), or null if it has none.
struct CodeColumn {
    usize column;
    u32* codes;
    const u64* nulls;
    std::shared_ptr<Budget> budget;
};

// Return the distinct texts of a column in the order of their first rows, and change codes to numbers in that order.
// Throws `length_error` if there are too many texts or bytes.
TextDictionary join_codes(const std::vector<ThreadCodes>& parts, const CodeColumn& column, unsigned threads);

}  // namespace headrace
