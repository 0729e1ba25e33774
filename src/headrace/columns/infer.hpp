// The type of a column from the kinds of text in it: where each kind was first seen, and what they add up to.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <vector>

#include "columns/kinds.hpp"
#include "columns/load.hpp"

namespace headrace {

// The first field of each kind in one column.
using Sightings = std::array<std::optional<Evidence>, KIND_COUNT + 1>;  // the last: UNFIT

// Sightings of all columns, gathered from tiles in any order.
class KindLedger {
public:
    explicit KindLedger(usize columns) : sightings_(columns) {}

    // Keeps the earlier of this sighting and what is known. `make_text` gives the field's text, if it is wanted.
    template <class MakeText>
    void see(usize column, u8 kind, std::uint64_t record, std::uint64_t at, MakeText make_text) {
        const std::lock_guard lock(mutex_);
        auto& known = sightings_[column][kind];
        if (!known || at < known->at) known = Evidence{record, at, make_text()};
    }

    // The kind that holds everything seen in the column so far.
    Kind joined(usize column) const;

    // The earliest field by which the column's type was settled: the join of all kinds up to it has the final type.
    std::optional<Evidence> evidence(usize column) const;

private:
    std::mutex mutex_;
    std::vector<Sightings> sightings_;
};

}  // namespace headrace
