#include "columns/faults/order.hpp"

#include <algorithm>
#include <tuple>

namespace headrace {

void order_faults(std::deque<FaultRow>& faults) {
    const auto key = [](const FaultRow& fault) { return std::tie(fault.record, fault.column, fault.at, fault.kind); };
    std::sort(faults.begin(), faults.end(), [&](const FaultRow& a, const FaultRow& b) { return key(a) < key(b); });
}

void reject_whole_records(std::deque<FaultRow>& faults) {
    for (auto first = faults.begin(); first != faults.end();) {
        const auto is_other = [&](const FaultRow& fault) { return fault.record != first->record; };
        const auto end = std::find_if(first, faults.end(), is_other);
        const auto rejects = [](const FaultRow& fault) { return fault.outcome == Outcome::reject; };
        if (std::any_of(first, end, rejects)) {
            std::for_each(first, end, [](FaultRow& fault) { fault.outcome = Outcome::reject; });
        }
        first = end;
    }
}

void keep_first_raised(LoadResult& result) {
    const auto raises = [](const FaultRow& fault) { return fault.outcome == Outcome::raise; };
    const auto first = std::find_if(result.faults.begin(), result.faults.end(), raises);
    result.faults = {std::move(*first)};
}

}  // namespace headrace
