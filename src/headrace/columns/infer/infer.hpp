// Infers a column's type from the kinds of text in it. Records where each kind was first seen, and joins the kinds.
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
using Sightings = std::array<std::optional<Evidence>, SIGHTINGS>;  // the last two: UNFIT, ROUNDED

// The kinds seen in all columns, collected from tiles in any order.
class KindLedger {
public:
    explicit KindLedger(usize columns, u32 file = 0) : file_(file), sightings_(columns) {}

    // Keeps the earlier of this field and the known one. `make_text` returns the field's text; it is called only if
    // that is kept.
    template <class MakeText>
    void see(usize column, u8 kind, std::uint64_t record, std::uint64_t at, MakeText make_text) {
        const std::lock_guard lock(mutex_);
        auto& known = sightings_[column][kind];
        if (!known || is_earlier(file_, at, *known)) known = Evidence{record, at, make_text(), file_};
    }

    // Adds what another ledger, of this or another file, has for a column. Values that their column's type does not
    // hold (UNFIT) are added only if `with_unfit`.
    void add(usize column, const KindLedger& other, usize other_column, bool with_unfit);

    // Returns the kind that covers everything seen in the column.
    Kind joined(usize column, bool with_unfit = true) const;

    // Returns the earliest field that determined the column's type: the join of all kinds up to it has the final type.
    std::optional<Evidence> evidence(usize column) const;

    // Returns the earliest integer that the column's float64 cannot represent exactly.
    std::optional<Evidence> rounded(usize column) const;

private:
    static bool is_earlier(u32 file, std::uint64_t at, const Evidence& known) {
        return file != known.file ? file < known.file : at < known.at;
    }

    std::mutex mutex_;
    u32 file_;  // number of the file that is being read
    std::vector<Sightings> sightings_;
};

// Adds the kinds of fields in about the first `bytes` bytes of text, for all columns that are wanted and inferred.
void sample_kinds(const Source& source, const Dialect& dialect, const LoadPlan& plan, usize bytes, KindLedger& ledger);

}  // namespace headrace
