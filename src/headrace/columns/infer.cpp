#include "columns/infer.hpp"

#include <algorithm>

namespace headrace {

// Values that their column's type does not hold make it text, if nothing else did.
Kind KindLedger::joined(usize column) const {
    const Sightings& seen = sightings_[column];
    Kind kind = Kind::empty;
    for (usize k = 0; k < KIND_COUNT; ++k) {
        if (seen[k]) kind = join(kind, static_cast<Kind>(k));
    }
    return seen[UNFIT] ? Kind::text : kind;
}

std::optional<Evidence> KindLedger::evidence(usize column) const {
    const Sightings& seen = sightings_[column];
    std::vector<usize> order;
    for (usize k = 0; k < KIND_COUNT; ++k) {
        if (seen[k]) order.push_back(k);
    }
    std::sort(order.begin(), order.end(), [&](usize a, usize b) { return seen[a]->at < seen[b]->at; });
    const ColumnType settled = type_of_kind(joined(column));
    Kind kind = Kind::empty;
    for (const usize k : order) {
        kind = join(kind, static_cast<Kind>(k));
        if (same_type(type_of_kind(kind), settled)) return seen[k];
    }
    return seen[UNFIT];
}

}  // namespace headrace
