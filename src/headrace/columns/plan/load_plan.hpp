// Defines the plan of a load: the columns, the range of the text, and the policies. A plan is a value without handles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "columns/plan/row_policy.hpp"
#include "columns/rules/column_type.hpp"
#include "core/cpu/isa.hpp"

namespace headrace {

struct PlannedColumn {
    std::string name;
    ColumnType type;
    bool inferred = false;
    bool views = false;      // if it is text, it is loaded as views where they can have it
    bool codes = false;      // if it is text and some repeat, it is loaded as a dictionary
    bool wanted = true;      // if false, its fields are indexed but not converted
    usize share_column = 0;  // index among the columns of all files (columns/load/shared_load.hpp)
    usize forms = 0;         // index in LoadPlan::forms
};

// Date formats as programs of steps.
struct DateFormatSet {
    std::vector<std::string> programs;  // two bytes a step
    std::vector<bool> may_be_number;
    bool iso_first = true;
    bool before_numbers = false;
};

// The meaning of texts in some columns: which are null, and how dates and times are written.
struct ValueForms {
    std::vector<std::string> null_texts;
    std::vector<std::string> null_words;  // null in columns of values only; they are values in columns of text
    DateFormatSet dates;
    std::string escape;  // null texts that contain it are compared before escapes are removed; empty for none
};

struct ZoneTable {
    std::string name;
    std::vector<i64> begins, ends, offsets;
    Zone zone{};
};

// The context of a part of a text. `state` is the automaton's at LoadPlan::begin. `records` and `bytes` precede the
// source's first byte, `lines` precede its byte `line_begin`; all three are added to positions in evidence and faults.
// `starts_at_line`: the part's first record of data begins at that byte.
struct PartBefore {
    u8 state = 0;
    bool is_more = false;  // text follows the source's last byte, so a record that ends there may be incomplete
    bool starts_at_line = false;
    u64 records = 0, bytes = 0, lines = 0, line_begin = 0;
};

struct LoadPlan {
    std::vector<PlannedColumn> columns;
    std::uint64_t begin = 0;                 // first byte after the byte-order mark and skipped lines
    std::uint64_t end = ~std::uint64_t{0};   // one past the last byte; the source may end before it
    std::uint64_t stop = ~std::uint64_t{0};  // records that begin at or after this byte belong to another load
    PartBefore before;
    std::uint64_t data_begin = 0;  // records that begin before this byte are not data, such as a header
    RowRules rows;
    OnError on_error = OnError::raise;
    u64 max_rejects = ~u64{0};  // faults that the result lists; further ones are counted
    std::vector<std::string> true_words, false_words;
    bool quoted_null = false;
    NumberMarks marks;
    std::vector<ValueForms> forms{ValueForms{}};
    std::deque<ZoneTable> zones;   // column types point to these, so they must not move
    bool replace_invalid = false;  // invalid UTF-8 in strings becomes U+FFFD
    bool shrink = false;
    std::optional<i64> row_index;  // number of the first record, if rows are numbered
    unsigned threads = 1;
    usize tile_bytes = 0;
    usize memory_limit = 0;  // bytes; 0: no limit
    bool exact_memory = false;
    Isa isa = Isa::scalar;
    u32 file = 0;  // number of the file, if several are loaded
};

// Calls `visit(name, member)` for each member that is an option of columns/plan/load_plan.py's ValueOptions.
template <class Visit>
void visit_values(LoadPlan& plan, const Visit& visit) {
    visit("on_error", plan.on_error);
    visit("max_rejects", plan.max_rejects);
    visit("true_words", plan.true_words);
    visit("false_words", plan.false_words);
    visit("quoted_null", plan.quoted_null);
    visit("replace_invalid", plan.replace_invalid);
    visit("shrink", plan.shrink);
    visit("marks", plan.marks);
}

}  // namespace headrace
