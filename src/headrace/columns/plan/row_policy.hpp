// Decides the outcome of every fault. This is the only place with that rule; Python asks it through
// columns/bindings.cpp.
#pragma once

#include <string_view>

#include "columns/rules/fault.hpp"

namespace headrace {

// The option `on_error`.
enum class OnError : u8 { raise, null, reject };

// The outcome of a fault for its record: the load raises an error, the record stays a row, or it is rejected.
enum class Outcome : u8 { raise, keep, reject };

// Outcomes for records whose structure differs from that of the others.
struct RowRules {
    usize base_columns = 0;     // number of fields of a complete record; widened tables have more columns
    bool fill_short = false;    // missing fields become null
    bool collect_long = false;  // the last column receives the bytes after the other fields
    Outcome on_short = Outcome::raise, on_long = Outcome::raise, on_malformed = Outcome::raise;
};

// Return the outcome of a fault of one field. A field that stays becomes null.
constexpr Outcome field_outcome(OnError on_error) {
    switch (on_error) {
        case OnError::null:
            return Outcome::keep;
        case OnError::reject:
            return Outcome::reject;
        case OnError::raise:
            break;
    }
    return Outcome::raise;
}

// Return the outcome of a fault of a record. `policy` is the option short_records or long_records; any other text,
// such as the empty one, leaves the choice to `on_error`. A record cannot become null, so "null" rejects it.
constexpr Outcome record_outcome(std::string_view policy, OnError on_error) {
    if (policy == "error") return Outcome::raise;
    if (policy == "reject") return Outcome::reject;
    if (policy == "truncate") return Outcome::keep;
    return on_error == OnError::raise ? Outcome::raise : Outcome::reject;
}

// Return the outcome of a fault. `lenient`: the dialect repairs malformed quotes and keeps their records.
constexpr Outcome outcome_of(Fault fault, const RowRules& rows, OnError on_error, bool lenient) {
    switch (fault) {
        case Fault::type:
        case Fault::overflow:
        case Fault::encoding:
            break;
        case Fault::quote:
            return lenient ? Outcome::keep : rows.on_malformed;
        case Fault::unclosed_quote:
            return rows.on_malformed;
        case Fault::too_few_fields:
            return rows.on_short;
        case Fault::too_many_fields:
            return rows.on_long;
    }
    return field_outcome(on_error);
}

}  // namespace headrace
