// Defines a fault and the faults of one tile. A text may have one fault for every two bytes, so a fault is small, and
// faults of one record share its text.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "columns/buffers/fault_texts.hpp"
#include "columns/plan/row_policy.hpp"
#include "core/cpu/block_cache.hpp"

namespace headrace {

constexpr i32 NO_COLUMN = -1;

// One fault of one record. Records are numbered from 1; header, comments and blank lines are not counted.
struct FaultRow {
    u64 record;
    u64 record_begin;
    u64 at;
    const char* record_text;      // raw, stored in FaultTexts
    u32 record_size;              // bytes
    u32 field_begin, field_size;  // bytes of record_text: the field, or the first line of an unclosed quoted field
    i32 column;
    Fault kind;
    Outcome outcome;

    std::string_view text() const { return {record_text, record_size}; }
    std::string_view field() const { return text().substr(field_begin, field_size); }
};
static_assert(sizeof(FaultRow) == 56);

// Set the field of an unclosed quoted field, which begins at byte `begin` of the record, to its first line. At most 80
// bytes of it are shown.
inline void set_unclosed_field(FaultRow& fault, u32 begin) {
    constexpr usize MAX_SHOWN_BYTES = 80;
    const std::string_view rest = fault.text().substr(begin);
    fault.field_begin = begin;
    fault.field_size = static_cast<u32>(std::min({rest.find_first_of("\r\n"), rest.size(), MAX_SHOWN_BYTES}));
}

// Faults of one tile, ordered by record, then column.
struct FaultBlock {
    u64 tile = 0;
    BlockVector<FaultRow> faults;
    FaultTexts texts;

    // Append a fault of a record. `record_text`: the raw record, which is stored unless the preceding fault has it.
    FaultRow& add(u64 record, std::string_view record_text) {
        const bool is_stored = !faults.empty() && faults.back().record == record;
        const char* const stored = is_stored ? faults.back().record_text : texts.keep(record_text).data();
        return refer(record, {stored, record_text.size()});
    }

    // Append a fault of a record whose text is stored elsewhere, as long as the block.
    FaultRow& refer(u64 record, std::string_view record_text) {
        FaultRow& fault = faults.emplace_back();
        fault.record = record;
        fault.record_text = record_text.data();
        fault.record_size = static_cast<u32>(record_text.size());
        return fault;
    }

    // Return the bytes that count in the memory budget of a load.
    usize charged_bytes() const { return faults.size() * sizeof(FaultRow) + texts.bytes(); }
};

// The rejected records of one tile.
struct RejectedRecords {
    u64 tile = 0;
    u64 first = 0;          // number of data records before the tile
    std::vector<u64> bits;  // bit i: the tile's data record i is rejected
};

}  // namespace headrace
