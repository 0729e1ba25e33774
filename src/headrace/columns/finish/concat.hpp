// Columns of several tables, one below the other, as one column; and a value for all rows of a table, such as the path
// that they came from. Each byte is read and written once, by threads that take up to a million rows at a time.
#pragma once

#include <memory>
#include <vector>

#include "columns/buffers/load_result.hpp"

namespace headrace {

// A part of a joined column: rows of a column, one row of it many times, or nulls.
struct JoinPart {
    enum class What { rows, repeated, nulls };
    What what = What::nulls;
    u64 length = 0;      // of the part
    u64 row = 0;         // that is repeated
    ColumnType type;     // of the column; small and large strings may be mixed, and nulls may have any
    u64 null_count = 0;  // of the column
    const Region* values = nullptr;
    const Region* offsets = nullptr;   // strings
    const Region* validity = nullptr;  // or null: every row has a value
};

struct JoinPlan {
    ColumnType type;  // a string becomes large_string where offsets of 32 bits do not reach
    bool shrink = false;
    unsigned threads = 1;
    std::shared_ptr<Budget> budget;
    u64 most_small_text = 0x7FFFFFFF;  // bytes of text up to which a string stays one
};

struct Joined {
    LoadedColumn column;
    u64 settled = NO_ROW;  // the row that settled the type that shrinking gave; as in finish.hpp
};

Joined join_parts(const std::vector<JoinPart>& parts, const JoinPlan& plan);

}  // namespace headrace
