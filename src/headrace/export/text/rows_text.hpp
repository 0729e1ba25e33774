// Rows of a batch as delimited text: fields, and which of them need quotes so that they read back as they are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "export/arrow/import_arrow.hpp"
#include "export/text/special_bytes.hpp"

namespace headrace {

enum class Quoting : u8 { minimal, all, none };

// How the text is written. Texts are bytes.
struct TextOptions {
    std::string sep;
    std::string line_end;
    std::string null;
    std::string comment;  // empty for none
    u8 quote = '"';
    bool has_quote = true;
    Quoting quoting = Quoting::minimal;
    bool header = true;
};

// What all workers need to know of one column.
struct ColumnPlan {
    usize width = 0;       // the longest text of a value of fixed width, and what may be overwritten behind it
    bool plain = false;    // of texts: those without special bytes and without blanks at their ends need no quotes
    bool checked = false;  // values are to be looked at like texts: the dialect may give their bytes a meaning
};

// What all workers need to know.
struct TextPlan {
    TextPlan(TextOptions options, const std::vector<ColumnFormat>& columns);

    TextOptions options;
    SpecialBytes special;
    const std::vector<ColumnFormat>& columns;
    std::vector<ColumnPlan> plans;
    usize row_width = 0;  // without texts: the most that one row takes
};

// A worker's buffer, used again for every piece of rows.
class RowsText {
public:
    explicit RowsText(const TextPlan& plan) : plan_(plan) {}

    void clear() { end_ = begin_.get(); }
    void add_header();
    // Rows [begin, end) of a batch whose first row is number `first` of the table.
    void add_rows(const Batch& batch, i64 begin, i64 end, i64 first);

    const u8* data() const { return begin_.get(); }
    usize size() const { return static_cast<usize>(end_ - begin_.get()); }
    std::unique_ptr<u8[]> release();  // the text itself; this one starts anew

private:
    enum class Need : u8 { none, better, must };

    void reserve(usize bytes);
    void add(std::string_view text);
    void add_cell(const ColumnView& column, usize number, i64 row);
    void add_null();
    bool add_short_text(const Text& text, usize column);
    void add_text(const Text& text, usize column);
    void add_checked(const ColumnView& column, usize number, i64 row);
    Need need_of_quotes(const Text& text, usize column) const;
    bool begins_specially(std::string_view text) const;
    [[noreturn]] void refuse_date(const ColumnView& column, usize number, i64 row) const;
    [[noreturn]] void refuse_quotes(usize column) const;

    const TextPlan& plan_;
    std::unique_ptr<u8[]> begin_;
    u8* end_ = nullptr;
    u8* limit_ = nullptr;
    bool at_start_ = false;  // of the whole text
    std::vector<u8> scratch_;
    i64 row_ = 0;  // of the table, for messages; -1 is the header
};

}  // namespace headrace
