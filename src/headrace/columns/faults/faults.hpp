// Builds the table of rejects: for each listed fault its position, in lines and bytes, and its text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "columns/buffers/load_result.hpp"
#include "columns/plan/load_plan.hpp"
#include "core/cpu/block_cache.hpp"
#include "sources/source.hpp"

namespace headrace {

struct NamedColumn {
    std::string name;
    LoadedColumn column;
};

// Return a table with one row for each listed fault, in the order of the records, and clear the list. Columns: record,
// kept, line, line_byte, byte, column, kind, expected, field, text. Lines count from 1 and end with LF, CR LF or CR,
// quoted or not. Bytes count from 0. `lines`: the line of each fault's record.
std::vector<NamedColumn> rejects_table(const LoadPlan& plan, LoadResult& result, std::span<const u64> lines);

// Return the line in which each fault's record begins.
BlockVector<u64> lines_of_faults(const Source& source, const LoadPlan& plan, const LoadResult& result);

// Replace ascending positions by their lines. Lines count from byte `first`, which begins a line.
void number_lines(const Source& source, std::span<u64> positions, unsigned threads, u64 first = 0);

// Return the number of line ends in text[0, size): LF, and CR without a following LF. Byte `size` must be readable.
u64 count_line_ends(const u8* text, usize size);

inline usize rows_of(const std::vector<FaultBlock>& faults) {
    usize rows = 0;
    for (const FaultBlock& block : faults) rows += block.faults.size();
    return rows;
}

std::string_view fault_name(Fault fault);
std::string type_name(const ColumnType& type);

}  // namespace headrace
