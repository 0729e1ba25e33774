#include "columns/infer/infer.hpp"

#include <algorithm>

namespace headrace {

void KindLedger::put(usize column, usize kind, Evidence evidence) {
    u32& place = places_[column][kind];
    if (place != 0) {
        seen_[place - 1] = std::move(evidence);
        return;
    }
    seen_.push_back(std::move(evidence));
    place = static_cast<u32>(seen_.size());
}

void KindLedger::add(usize column, const KindLedger& other, usize other_column, bool with_unfit) {
    const std::lock_guard lock(mutex_);
    for (usize k = 0; k < SIGHTINGS; ++k) {
        if (k == UNFIT && !with_unfit) continue;
        const Evidence* const theirs = other.seen(other_column, k);
        const Evidence* const known = seen(column, k);
        if (theirs != nullptr && (known == nullptr || is_earlier(theirs->file, theirs->at, *known))) {
            put(column, k, *theirs);
        }
    }
}

namespace {

Kind with_sign(usize kind, Kind negative) {
    const auto own = static_cast<Kind>(kind);
    return own == Kind::negative ? negative : own;
}

}  // namespace

Kind KindLedger::joined(usize column, bool with_unfit) const { return joined_as(column, Kind::negative, with_unfit); }

Kind KindLedger::first_guess(usize column) const { return joined_as(column, Kind::natural, true); }

// A column with values that its type cannot hold becomes text, unless other kinds widen the type.
Kind KindLedger::joined_as(usize column, Kind negative, bool with_unfit) const {
    const Places& places = places_[column];
    Kind kind = Kind::empty;
    for (usize k = 0; k < KIND_COUNT; ++k) {
        if (places[k] != 0) kind = join(kind, with_sign(k, negative));
    }
    return places[UNFIT] != 0 && with_unfit ? Kind::text : kind;
}

std::optional<Evidence> KindLedger::rounded(usize column) const {
    const Evidence* const found = joined(column) == Kind::float64 ? seen(column, ROUNDED) : nullptr;
    return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<Evidence> KindLedger::evidence(usize column) const {
    std::vector<usize> order;
    for (usize k = 0; k < KIND_COUNT; ++k) {
        if (seen(column, k) != nullptr) order.push_back(k);
    }
    std::sort(order.begin(), order.end(), [&](usize a, usize b) {
        const Evidence& other = *seen(column, b);
        return is_earlier(seen(column, a)->file, seen(column, a)->at, other);
    });
    const ColumnType final_type = type_of_kind(joined(column));
    // In a column of int64 a negative number may go unrecorded. So it counts as a natural one, unless the column's type
    // depends on it.
    for (const Kind negative : {Kind::natural, Kind::negative}) {
        Kind kind = Kind::empty;
        for (const usize k : order) {
            kind = join(kind, with_sign(k, negative));
            if (same_type(type_of_kind(kind), final_type)) return *seen(column, k);
        }
    }
    const Evidence* const unfit = seen(column, UNFIT);
    return unfit == nullptr ? std::nullopt : std::optional(*unfit);
}

}  // namespace headrace
