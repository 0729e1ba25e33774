// How far a stretch of text has come, and what two stretches after one another come to.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

struct Reached {
    u64 records;       // that ended in it
    u64 record_begin;  // where the last record that began in it began, in bytes of the text; 0 where none did
    u64 field_begin;   // the same of fields
    u32 column;        // separators behind the last record's end, or all where none ended
    u32 closed;        // whether a record ended
};

// First `a`, then `b`; it does not commute.
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
