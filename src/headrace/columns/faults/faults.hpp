// Faults as a table: where each is, in lines and bytes, and what was there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "columns/buffers/load_result.hpp"
#include "columns/plan/load_plan.hpp"
#include "sources/source.hpp"

namespace headrace {

struct NamedColumn {
    std::string name;
    LoadedColumn column;
};

// One row for each fault, in the order of the records: record, kept, line, line_byte, byte, column, kind, expected,
// field, text. Lines count from 1 and end with LF, CR LF or CR, quoted or not; bytes count from 0. `lines`: of each
// fault's record.
std::vector<NamedColumn> rejects_table(const LoadPlan& plan, const LoadResult& result, const std::vector<u64>& lines);

// The line that each fault's record begins in.
std::vector<u64> lines_of_faults(const Source& source, const LoadPlan& plan, const LoadResult& result);

// The line that each position, ascending, lies in; lines count from the byte `first`, where one begins.
std::vector<u64> line_numbers(const Source& source, const std::vector<u64>& positions, unsigned threads, u64 first = 0);

// Line ends that are complete before `size`: LF, and CR that no LF follows. One byte behind is readable.
u64 count_line_ends(const u8* text, usize size);

std::string_view fault_name(Fault fault);
std::string type_name(const ColumnType& type);

// Bytes that are no UTF-8 written as \xNN, so that any bytes can be shown.
std::string printable(std::string_view bytes);

}  // namespace headrace
