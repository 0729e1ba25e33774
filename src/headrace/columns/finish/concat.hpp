// Concatenates columns of several tables, and repeats a value for all rows of a table, such as the path they came from.
// Each byte is read and written once, by threads that take up to a million rows at a time.
#pragma once

#include <memory>
#include <vector>

#include "columns/buffers/load_result.hpp"

namespace headrace {

// A part of the result: the rows of a column, one row of it repeated, or nulls.
struct JoinPart {
    enum class What { rows, repeated, nulls };
    What what = What::nulls;
    u64 length = 0;      // rows of the part
    u64 row = 0;         // the repeated row
    ColumnType type;     // of the column; string types with both widths may be mixed, and nulls may have any type
    u64 null_count = 0;  // of the column
    const Region* values = nullptr;
    const Region* offsets = nullptr;   // strings
    const Region* validity = nullptr;  // or null: every row has a value
};

struct JoinPlan {
    ColumnType type;  // string becomes large_string if its bytes exceed 32-bit offsets
    bool shrink = false;
    unsigned threads = 1;
    std::shared_ptr<Budget> budget;
    u64 max_small_text = 0x7FFFFFFF;  // maximum string bytes for 32-bit offsets
};

struct Joined {
    LoadedColumn column;
    u64 deciding_row = NO_ROW;  // row that decided the shrunk type, as in finish.hpp
};

Joined join_parts(const std::vector<JoinPart>& parts, const JoinPlan& plan);

}  // namespace headrace
