#include "columns/infer/infer.hpp"

#include <algorithm>

namespace headrace {

void KindLedger::add(usize column, const KindLedger& other, usize other_column, bool with_unfit) {
    const std::lock_guard lock(mutex_);
    for (usize k = 0; k < SIGHTINGS; ++k) {
        if (k == UNFIT && !with_unfit) continue;
        const auto& theirs = other.sightings_[other_column][k];
        auto& known = sightings_[column][k];
        if (theirs && (!known || is_earlier(theirs->file, theirs->at, *known))) known = theirs;
    }
}

// A column with values that its type cannot hold becomes text, unless other kinds widen the type.
Kind KindLedger::joined(usize column, bool with_unfit) const {
    const Sightings& seen = sightings_[column];
    Kind kind = Kind::empty;
    for (usize k = 0; k < KIND_COUNT; ++k) {
        if (seen[k]) kind = join(kind, static_cast<Kind>(k));
    }
    return seen[UNFIT] && with_unfit ? Kind::text : kind;
}

std::optional<Evidence> KindLedger::rounded(usize column) const {
    return joined(column) == Kind::float64 ? sightings_[column][ROUNDED] : std::nullopt;
}

std::optional<Evidence> KindLedger::evidence(usize column) const {
    const Sightings& seen = sightings_[column];
    std::vector<usize> order;
    for (usize k = 0; k < KIND_COUNT; ++k) {
        if (seen[k]) order.push_back(k);
    }
    std::sort(order.begin(), order.end(),
              [&](usize a, usize b) { return is_earlier(seen[a]->file, seen[a]->at, *seen[b]); });
    const ColumnType final_type = type_of_kind(joined(column));
    // In a column of int64 a negative number may go unrecorded. So it counts as a natural one, unless the column's type
    // depends on it.
    for (const Kind negative : {Kind::natural, Kind::negative}) {
        Kind kind = Kind::empty;
        for (const usize k : order) {
            const Kind own = static_cast<Kind>(k);
            kind = join(kind, own == Kind::negative ? negative : own);
            if (same_type(type_of_kind(kind), final_type)) return seen[k];
        }
    }
    return seen[UNFIT];
}

}  // namespace headrace
