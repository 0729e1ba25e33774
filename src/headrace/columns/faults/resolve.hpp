// Resolves the faults that GPU kernels listed (convert_task.hpp) by the native rules: reads each of these records
// again.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "columns/buffers/load_result.hpp"
#include "columns/convert/gpu/convert_task.hpp"
#include "columns/faults/record_reader.hpp"

namespace headrace {

// The listed faults by record, the text, and the texts and lines of these records in turn. Resolved faults refer to the
// texts.
struct ListedFaults {
    const Source& source;
    const Dialect& dialect;
    const LoadPlan& plan;
    u64 begin;  // byte of the source that positions in faults count from
    std::span<const FieldFault> faults;
    RecordTexts texts;
    std::span<const u64> lines;
};

struct ResolvedFaults {
    std::vector<FaultBlock> faults;  // ordered by record, then column; at most LoadPlan::max_rejects
    std::vector<u64> lines;          // of each of these faults
    u64 count = 0;                   // of all faults
    u64 rejected_short = 0;          // rejected records whose missing fields the kernels filled with nulls
};

// Resolve listed faults. The kernels list one fault of a faulty record; the result has all that the loader finds in it.
// If a fault raises, the result has the first such fault alone.
ResolvedFaults resolve_faults(const ListedFaults& listed);

// The type that a column is converted as.
struct AssumedType {
    ColumnType type;
    std::optional<u8> guess;  // Kind, if the type is inferred
};

// The result for a field that the kernels left to the host (FAULT_DEFERRED, FAULT_COLLECTED).
struct ResolvedField {
    enum class Resolution : u8 { null, value, fault, kind };
    Resolution outcome = Resolution::null;
    u8 kind = 0;  // Fault, Kind or UNFIT
    u64 at = 0;   // byte of the source, for a fault or kind
    u64 value[2] = {};
    std::string text;     // of a string column
    bool mended = false;  // invalid UTF-8 was replaced with U+FFFD
};

std::vector<ResolvedField> resolve_fields(const ListedFaults& listed, const std::vector<AssumedType>& columns);

}  // namespace headrace
