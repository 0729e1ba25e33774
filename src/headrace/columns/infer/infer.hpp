// The type of a column from the kinds of text in it: where each kind was first seen, and what they add up to.
#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "columns/buffers/column_buffers.hpp"
#include "columns/plan/load_plan.hpp"
#include "columns/rules/kinds.hpp"
#include "sources/source.hpp"
#include "structure/dfa.hpp"

namespace headrace {

// The first field of each kind in one column.
using Sightings = std::array<std::optional<Evidence>, SIGHTINGS>;  // the last: UNFIT, ROUNDED

// Sightings of all columns, gathered from tiles in any order.
class KindLedger {
public:
    explicit KindLedger(usize columns, u32 file = 0) : file_(file), sightings_(columns) {}

    // Keeps the earlier of this sighting and what is known. `make_text` gives the field's text, if it is wanted.
    template <class MakeText>
    void see(usize column, u8 kind, std::uint64_t record, std::uint64_t at, MakeText make_text) {
        const std::lock_guard lock(mutex_);
        auto& known = sightings_[column][kind];
        if (!known || is_earlier(file_, at, *known)) known = Evidence{record, at, make_text(), file_};
    }

    // Takes in what another ledger, of other files or of this one, knows of a column; values that their column's type
    // does not hold (UNFIT) only if `with_unfit`.
    void add(usize column, const KindLedger& other, usize other_column, bool with_unfit);

    // The kind that holds everything seen in the column so far.
    Kind joined(usize column, bool with_unfit = true) const;

    // The earliest field by which the column's type was settled: the join of all kinds up to it has the final type.
    std::optional<Evidence> evidence(usize column) const;

    // The earliest integer that the column's float64 does not hold exactly.
    std::optional<Evidence> rounded(usize column) const;

private:
    static bool is_earlier(u32 file, std::uint64_t at, const Evidence& known) {
        return file != known.file ? file < known.file : at < known.at;
    }

    std::mutex mutex_;
    u32 file_;  // whose fields are seen
    std::vector<Sightings> sightings_;
};

// Adds the kinds of the fields in about so many bytes of the text's beginning, of all columns that are wanted and
// inferred.
void sample_kinds(const Source& source, const Dialect& dialect, const LoadPlan& plan, usize bytes, KindLedger& ledger);

// What messages and callers call it: a type, or what it may become one of.
std::string_view kind_name(Kind kind);

}  // namespace headrace
