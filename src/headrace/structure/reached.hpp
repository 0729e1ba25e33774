// Summarizes a range of text by what is open at its end, and combines the summaries of adjacent ranges.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

struct Reached {
    u64 records;       // data records that end in the range
    u64 record_begin;  // first byte of the last record that begins in it, a position in the text; 0 if none does
    u64 field_begin;   // the same for fields
    u32 column;        // separators after the last record's end, or all of them if no record ends
    u32 closed;        // 1 if a record ends in the range
};

// Combines range `a` with the range `b` that follows it. Associative, not commutative. Example: in `a,b⏎c,` a record
// ends and one separator follows it, so column is 1; `d,e` has no record end and one separator. Together the column is
// 2: the open record is `c,d,e`. The column of `a` does not count if a record ends in `b` (ParPaRaw, section 3.2:
// column offsets are relative or absolute).
struct Follow {
    using Item = Reached;
    static constexpr bool commutes = false;
    HR_FN Reached identity() { return {0, 0, 0, 0, 0}; }
    HR_FN Reached join(const Reached& a, const Reached& b) {
        return {a.records + b.records, a.record_begin > b.record_begin ? a.record_begin : b.record_begin,
                a.field_begin > b.field_begin ? a.field_begin : b.field_begin,
                b.closed != 0 ? b.column : a.column + b.column, a.closed | b.closed};
    }
};

HR_END_NAMESPACE
