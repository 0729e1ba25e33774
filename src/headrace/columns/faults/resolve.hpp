// What a GPU's kernels listed (convert_task.hpp), settled by the native rules: each record in question is read again,
// alone, where the list says it begins.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "columns/buffers/load_result.hpp"
#include "columns/convert/gpu/convert_task.hpp"
#include "columns/plan/load_plan.hpp"
#include "sources/source.hpp"
#include "structure/dfa.hpp"

namespace headrace {

// Faults by record, and where to find the text. `pieces`: of each record in turn its first bytes, for a source that is
// slow to ask; or none.
struct ListedFaults {
    const Source& source;
    const Dialect& dialect;
    const LoadPlan& plan;
    u64 begin;  // the byte of the source that faults count from
    std::span<const FieldFault> faults;
    std::span<const u8> pieces;
    usize piece_bytes;
};

struct SettledFaults {
    std::deque<FaultRow> faults;  // by record, then column
    FaultTexts texts;
    u64 short_gone = 0;  // records that go and lack fields, where those are filled
};

// Of a record as a whole one fault is listed; its faults are those that the loader finds there.
SettledFaults settle_faults(const ListedFaults& listed);

// What a column is taken for.
struct TakenFor {
    ColumnType type;
    std::optional<u8> guess;  // Kind, where the type is inferred
};

// What becomes of a field that the kernels left to the host (FAULT_DEFERRED, FAULT_COLLECTED).
struct SettledField {
    enum class What : u8 { null, value, fault, kind };
    What what = What::null;
    u8 kind = 0;  // Fault, Kind or UNFIT
    u64 at = 0;   // of a fault or kind, in the source
    u64 value[2] = {};
    std::string text;     // of a column of strings
    bool mended = false;  // it is no UTF-8 as it stands, and U+FFFD is in place of that
};

std::vector<SettledField> settle_fields(const ListedFaults& listed, const std::vector<TakenFor>& columns);

}  // namespace headrace
