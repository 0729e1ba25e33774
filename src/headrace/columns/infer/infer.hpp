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

// The kinds seen in all columns, collected from tiles in any order. A table may have thousands of columns while its
// text is short, so a column without fields costs little.
class KindLedger {
public:
    explicit KindLedger(usize columns, u32 file = 0) : file_(file), places_(columns) {}

    // Keeps the earlier of this field and the known one. `make_text` returns the field's text; it is called only if
    // that is kept.
    template <class MakeText>
    void see(usize column, u8 kind, std::uint64_t record, std::uint64_t at, MakeText make_text) {
        const std::lock_guard lock(mutex_);
        const Evidence* const known = seen(column, kind);
        if (known == nullptr || is_earlier(file_, at, *known))
            put(column, kind, Evidence{record, at, make_text(), file_});
    }

    // Adds what another ledger, of this or another file, has for a column. Values that their column's type does not
    // hold (UNFIT) are added only if `with_unfit`.
    void add(usize column, const KindLedger& other, usize other_column, bool with_unfit);

    // Returns the kind that covers everything seen in the column.
    Kind joined(usize column, bool with_unfit = true) const;

    // Returns the kind to convert the column as at first, with negative numbers as natural ones. Beside uint64 they
    // make the column text, but the evidence for that is the first text, which only a conversion to uint64 finds.
    Kind first_guess(usize column) const;

    // Returns the earliest field that determined the column's type: the join of all kinds up to it has the final type.
    std::optional<Evidence> evidence(usize column) const;

    // Returns the earliest integer that the column's float64 cannot represent exactly.
    std::optional<Evidence> rounded(usize column) const;

private:
    static bool is_earlier(u32 file, std::uint64_t at, const Evidence& known) {
        return file != known.file ? file < known.file : at < known.at;
    }

    // The place in `seen_` of the first field of each kind, from 1; 0 for none. The last two: UNFIT, ROUNDED.
    using Places = std::array<u32, SIGHTINGS>;

    Kind joined_as(usize column, Kind negative, bool with_unfit) const;
    const Evidence* seen(usize column, usize kind) const {
        const u32 place = places_[column][kind];
        return place == 0 ? nullptr : &seen_[place - 1];
    }
    void put(usize column, usize kind, Evidence evidence);

    std::mutex mutex_;
    u32 file_;  // number of the file that is being read
    std::vector<Places> places_;
    std::vector<Evidence> seen_;
};

struct SampleRange {
    usize bytes;
    bool only_empty = false;  // leave out columns of which the ledger has a kind
};

// Adds the kinds of fields in about the first bytes of text, for all columns that are wanted and inferred.
void sample_kinds(const Source& source, const Dialect& dialect, const LoadPlan& plan, const SampleRange& range,
                  KindLedger& ledger);

}  // namespace headrace
