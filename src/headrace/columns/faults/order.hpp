// Orders the faults of a tile and applies the outcome of each record.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "columns/plan/row_policy.hpp"

namespace headrace {

// Sort the faults of a tile by record, then column. A record may have two faults of its own, a quote in an unquoted
// field and a surplus field: these are sorted by byte. If a fault rejects its record, no other
// fault of the record keeps it.
template <class Faults>
void order_faults(Faults& faults) {
    const auto before = [](const auto& a, const auto& b) {
        const auto key = [](const auto& fault) { return std::tie(fault.record, fault.column, fault.at, fault.kind); };
        return key(a) < key(b);
    };
    // A tile whose faults are of one kind has them in order.
    if (!std::is_sorted(faults.begin(), faults.end(), before)) std::sort(faults.begin(), faults.end(), before);
    for (auto first = faults.begin(); first != faults.end();) {
        auto end = first;
        bool rejects = false;
        for (; end != faults.end() && end->record == first->record; ++end) rejects |= end->outcome == Outcome::reject;
        for (; first != end; ++first) {
            if (rejects && first->outcome == Outcome::keep) first->outcome = Outcome::reject;
        }
    }
}

}  // namespace headrace
