// Formats rows of a batch as delimited text, and decides which fields need quotes to be read back unchanged.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "export/arrow/import_arrow.hpp"
#include "export/text/special_bytes.hpp"

namespace headrace {

enum class Quoting : u8 { minimal, all, none };

// How the text is written. All strings are bytes.
struct TextOptions {
    std::string sep;
    std::string line_end;
    std::string null;
    std::string comment;  // empty if there is none
    u8 quote = '"';
    bool has_quote = true;
    Quoting quoting = Quoting::minimal;
    i32 escape = -1;  // a byte, or -1 for none; only with Quoting::none
    bool escape_sequences = false;
    bool header = true;
    bool plain_nan = false;  // every NaN is NaN
};

// Properties of one column, shared by all workers.
struct ColumnPlan {
    usize width = 0;       // longest text of a fixed-width value, plus the bytes that may be overwritten after it
    bool plain = false;    // strings without special bytes and without blanks at their ends need no quotes
    bool checked = false;  // values are examined like strings: their bytes may be special in the dialect
};

// The options and columns of the output, shared by all workers.
struct TextPlan {
    TextPlan(TextOptions options, const std::vector<ColumnFormat>& columns);

    TextOptions options;
    SpecialBytes special;
    const std::vector<ColumnFormat>& columns;
    std::vector<ColumnPlan> plans;
    usize row_width = 0;  // largest size of a row, without strings
};

// The text buffer of one worker, reused for every piece.
class RowsText {
public:
    explicit RowsText(const TextPlan& plan) : plan_(plan) {}

    void clear() { end_ = begin_.get(); }
    void add_header();
    // Adds rows [begin, end) of a batch; `first`: the table's number of the batch's first row.
    void add_rows(const Batch& batch, i64 begin, i64 end, i64 first);

    const u8* data() const { return begin_.get(); }
    usize size() const { return static_cast<usize>(end_ - begin_.get()); }
    std::unique_ptr<u8[]> release();  // returns the text and leaves this empty

private:
    enum class Need : u8 { none, better, must };

    void reserve(usize bytes);
    void add(std::string_view text);
    void add_cell(const ColumnView& column, usize number, i64 row);
    void add_null();
    bool add_short_text(const Text& text, usize column);
    void add_text(const Text& text, usize column);
    void add_escaped(std::string_view text, usize column);
    void add_checked(const ColumnView& column, usize number, i64 row);
    Need need_of_quotes(const Text& text, usize column) const;
    bool begins_specially(std::string_view text) const;
    [[noreturn]] void refuse_value(const ColumnView& column, usize number, i64 row) const;
    [[noreturn]] void refuse_quotes(usize column) const;

    const TextPlan& plan_;
    std::unique_ptr<u8[]> begin_;
    u8* end_ = nullptr;
    u8* limit_ = nullptr;
    bool at_start_ = false;  // whether nothing precedes in the whole text
    std::vector<u8> scratch_;
    i64 row_ = 0;  // row of the table, for messages; -1 is the header
};

}  // namespace headrace
