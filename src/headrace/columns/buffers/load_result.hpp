// Defines the result of a load: columns, counts, faults and times.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "columns/buffers/column_buffers.hpp"
#include "columns/buffers/fault_block.hpp"

namespace headrace {

constexpr u64 NO_ROW = ~u64{0};

struct LoadCounts {
    u64 records = 0;  // data records: rows, rejected records, and those left out by a filter
    u64 left_out = 0;
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
    Region record_begins, record_ends;      // u64: the bytes of each row's record without its line end, if wanted
    LoadCounts counts;
    u64 rejected = 0;
    // If the load stops before the end of its source:
    u64 end = 0;              // one past the last record and its line end; the begin of the load if there is no record
    u8 state = 0;             // the automaton's, at the stop
    bool is_cut = false;      // the source ended inside the last record
    bool has_quotes = false;  // or escapes
    bool records_are_lines = false;  // each line is one data record, from the first of them on
    bool raised = false;             // the outcome of some fault is `raise`; the columns are not finished
    u64 fault_count = 0;             // of all faults; `faults` has at most LoadPlan::max_rejects
    std::vector<FaultBlock> faults;  // the first ones, by tile; if the outcome of one is `raise`, that one alone
    std::vector<RejectedRecords> rejected_records;  // by tile
    std::vector<RejectedRecords> left_out_records;  // by tile, if rows are numbered
    StageSeconds seconds;
    unsigned passes = 0;
    std::shared_ptr<Budget> budget;
};

}  // namespace headrace
