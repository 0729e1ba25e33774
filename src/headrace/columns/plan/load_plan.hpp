// From a source to typed columns on the CPU: one pass over the text, tile by tile, several threads at once.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "columns/plan/fault_texts.hpp"
#include "columns/rules/column_type.hpp"
#include "columns/rules/fault.hpp"
#include "core/cpu/isa.hpp"
#include "core/cpu/memory.hpp"
#include "sources/source.hpp"
#include "structure/dfa.hpp"

namespace headrace {

enum class OnError : u8 { raise, null, reject };

// What becomes of a record that has a fault.
enum class Outcome : u8 { raise, keep, reject };

struct PlannedColumn {
    std::string name;
    ColumnType type;
    bool inferred = false;
    bool wanted = true;      // otherwise its fields are found and left alone
    usize share_column = 0;  // its column in LoadPlan::share
    usize forms = 0;         // which of the plan's
};

// Date formats, and what their pointers point to.
struct DateFormatSet {
    std::vector<std::string> programs;  // two bytes a step
    std::vector<bool> may_be_number;
    bool iso_first = true;
    bool before_numbers = false;
};

// What the texts of some columns mean: those that are null, and how dates and times are written.
struct ValueForms {
    // In columns of values, that is of no text, an empty field is null too, unless no text is.
    std::vector<std::string> null_texts;
    DateFormatSet dates;

    // Whether an empty field is null in columns of values, but not in columns of text.
    bool empty_is_text() const {
        return !null_texts.empty() && std::find(null_texts.begin(), null_texts.end(), "") == null_texts.end();
    }
};

struct ZoneTable {
    std::string name;
    std::vector<i64> begins, ends, offsets;
    Zone zone{};
};

// What becomes of records whose structure is not the others'.
struct RowRules {
    usize base_columns = 0;     // fields of a whole record; widened tables have more columns
    bool fill_short = false;    // nulls for the fields that a record lacks
    bool collect_long = false;  // the last column takes the bytes behind the others, if there are any
    Outcome on_short = Outcome::raise, on_long = Outcome::raise, on_malformed = Outcome::raise;
};

struct LoadShare;

// What a load of a part of a text is told of the text in front: `state` is the automaton's at LoadPlan::begin. Records,
// bytes and lines in front of the source's first are added to those that evidence and faults name; lines are counted
// from byte `line_begin` of the source on.
struct PartBefore {
    u8 state = 0;
    bool is_more = false;  // behind the source's last byte: a record that ends there may not have ended
    u64 records = 0, bytes = 0, lines = 0, line_begin = 0;
};

struct LoadPlan {
    std::vector<PlannedColumn> columns;
    std::uint64_t begin = 0;                 // of the text: behind the byte-order mark and what is to be skipped
    std::uint64_t end = ~std::uint64_t{0};   // of the text, or of the source if that comes first
    std::uint64_t stop = ~std::uint64_t{0};  // records that begin at it or behind are left to another load
    PartBefore before;
    std::uint64_t data_begin = 0;  // records that begin before it are no data: the header, say
    RowRules rows;
    OnError on_error = OnError::raise;
    std::vector<std::string> true_words, false_words;
    bool quoted_null = false;
    NumberMarks marks;
    std::vector<ValueForms> forms{ValueForms{}};
    std::deque<ZoneTable> zones;   // which stay where they are: the columns' types point to them
    bool replace_invalid = false;  // U+FFFD for what is no UTF-8, in strings
    bool shrink = false;
    std::optional<i64> row_index;  // number of the first record, if rows are to be numbered
    unsigned threads = 1;
    usize tile_bytes = 0;
    usize memory_limit = 0;  // 0: none
    bool exact_memory = false;
    Isa isa = Isa::scalar;
    LoadShare* share = nullptr;  // columns/load/shared_load.hpp: of a file among several
    u32 file = 0;                // its number among them
    // Called on the calling thread about every 0.1 s: bytes of text that this pass has taken, and will have; may throw.
    std::function<void(std::uint64_t, std::uint64_t)> poll;
};

constexpr i32 NO_COLUMN = -1;

// One fault of one record. Records count from 1 and are the data's: header, comments and blank lines do not count.
// There may be one for each two bytes of the text, hence the small members.
struct FaultRow {
    u64 record;
    u64 record_begin;
    u64 at;
    u64 row;                  // of a kept or still to be rejected row
    const char* record_text;  // raw, in FaultTexts
    u32 record_size;
    u32 field_begin,
        field_size;  // in the record's text: of one field's fault, or of the first line of one that never ends
    i32 column;
    Fault kind;
    Outcome outcome;
    bool in_short_row;  // of a field's fault: the row's record lacks fields, which are nulls

    std::string_view text() const { return {record_text, record_size}; }
    std::string_view field() const { return text().substr(field_begin, field_size); }
};
static_assert(sizeof(FaultRow) == 64);

// Bytes that a fault counts for in the budget of a load.
inline usize charged_bytes(const FaultRow& fault) { return sizeof fault + fault.record_size; }

struct Evidence {
    std::uint64_t record;
    std::uint64_t at;
    std::string text;
    u32 file = 0;
};

struct LoadedColumn {
    ColumnType type;
    Region values;    // or the strings' bytes
    Region offsets;   // strings
    Region validity;  // bit 1: a value; empty if there are no nulls
    u64 null_count = 0;
    u64 replaced = 0;                  // strings that were mended with U+FFFD, those of rejected rows included
    std::optional<Evidence> evidence;  // of an inferred type: the record that settled it
    std::optional<Evidence> rounded;   // of inferred floats: the first integer that they do not hold exactly
};

struct LoadCounts {
    u64 records = 0;  // of data: rows and rejects
    u64 rows = 0;
    u64 leading = 0, blank = 0, comment = 0;  // left out: records before the data, and lines
    u64 filled = 0;                           // rows whose records were short
};

struct StageSeconds {
    double find = 0, convert = 0, finish = 0;  // find and convert add up all threads' time
};

struct LoadResult {
    std::vector<LoadedColumn> columns;
    std::optional<LoadedColumn> row_index;  // int64: which data record each row is
    LoadCounts counts;
    u64 rejected = 0;
    // Of a load that stops before its source does:
    u64 end = 0;                  // behind the last record and its line end; where the load begins if it has none
    u8 state = 0;                 // of the automaton at the stop
    bool is_cut = false;          // the source ended before the last record did
    bool raised = false;          // some fault is to be raised: the result is not finished
    std::deque<FaultRow> faults;  // by record, then column; grows without moving
    FaultTexts fault_texts;
    StageSeconds seconds;
    unsigned passes = 0;
    std::shared_ptr<Budget> budget;
};

LoadResult load(const Source& source, const Dialect& dialect, const LoadPlan& plan);

// The texts of the first `count` records that are no comments, and where each begins.
struct PeekedRecord {
    std::uint64_t begin;
    std::vector<std::string> fields;
    std::optional<std::uint64_t>
        malformed;     // where quoting is: a stray quote, or the record's beginning if quotes never close
    std::string text;  // raw
    std::optional<std::uint64_t> undecodable = std::nullopt;  // the first byte of a field that is not UTF-8
};
std::vector<PeekedRecord> peek_records(const Source& source, const Dialect& dialect, Isa isa, std::uint64_t begin,
                                       usize count);

}  // namespace headrace
