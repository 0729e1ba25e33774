// Defines the result of a load: columns, counts, faults and times.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "columns/buffers/column_buffers.hpp"
#include "columns/buffers/fault_texts.hpp"
#include "columns/plan/row_policy.hpp"

namespace headrace {

constexpr i32 NO_COLUMN = -1;
constexpr u64 NO_ROW = ~u64{0};

// One fault of one record. Records are numbered from 1; header, comments and blank lines are not counted. A text may
// have one fault for every two bytes, so the members are small.
struct FaultRow {
    u64 record;
    u64 record_begin;
    u64 at;
    u64 row;                      // if the record is a row; it may still be rejected
    const char* record_text;      // raw, stored in FaultTexts
    u32 record_size;              // bytes
    u32 field_begin, field_size;  // bytes of record_text: the field, or the first line of an unclosed quoted field
    i32 column;
    Fault kind;
    Outcome outcome;
    bool in_short_row;  // field faults: the record lacks fields, which became null

    std::string_view text() const { return {record_text, record_size}; }
    std::string_view field() const { return text().substr(field_begin, field_size); }
};
static_assert(sizeof(FaultRow) == 64);

// Return the bytes that a fault counts for in the memory budget of a load.
inline usize charged_bytes(const FaultRow& fault) { return sizeof fault + fault.record_size; }

// Set the field of an unclosed quoted field, which begins at byte `begin` of the record, to its first line. At most 80
// bytes of it are shown.
inline void set_unclosed_field(FaultRow& fault, u32 begin) {
    constexpr usize MAX_SHOWN_BYTES = 80;
    const std::string_view rest = fault.text().substr(begin);
    fault.field_begin = begin;
    fault.field_size = static_cast<u32>(std::min({rest.find_first_of("\r\n"), rest.size(), MAX_SHOWN_BYTES}));
}

struct LoadCounts {
    u64 records = 0;  // data records: rows and rejected records
    u64 rows = 0;
    u64 leading = 0, blank = 0, comment = 0;  // skipped: records before the data, and lines
    u64 filled = 0;                           // rows whose records lacked fields
};

struct StageSeconds {
    double find = 0, convert = 0, finish = 0;  // find and convert: sums over all threads
};

struct LoadResult {
    std::vector<LoadedColumn> columns;
    std::optional<LoadedColumn> row_index;  // int64: index of each row's data record
    LoadCounts counts;
    u64 rejected = 0;
    // If the load stops before the end of its source:
    u64 end = 0;          // one past the last record and its line end; the begin of the load if there is no record
    u8 state = 0;         // the automaton's, at the stop
    bool is_cut = false;  // the source ended inside the last record
    bool raised = false;  // the outcome of some fault is `raise`; the columns are not finished
    std::deque<FaultRow> faults;  // ordered by record, then column; references stay valid when it grows
    FaultTexts fault_texts;
    StageSeconds seconds;
    unsigned passes = 0;
    std::shared_ptr<Budget> budget;
};

}  // namespace headrace
