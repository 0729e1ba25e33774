// Keeps the tables of a search in host memory.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "query/match/automaton/match_rules.hpp"

namespace headrace {

// Tables as bytes, in the order of MatchTables.
struct MatchParts {
    std::string_view class_of, forward, verdicts, backward, idle_after;
};

// The lengths of the matches of an automaton whose matches have bytes of one class only, as [0-9]{3,5}. A run of such
// bytes is cut into matches of at most `max` bytes from its begin on. Its rest is a match from `min` bytes on.
struct MatchRuns {
    u32 byte_class;
    u64 min, max;
};

class MatchAutomaton {
public:
    // Throws std::invalid_argument if sizes differ or a table names a state that does not exist.
    MatchAutomaton(const MatchParts& parts, u32 idles);

    const MatchTables& tables() const { return tables_; }

    // Steps (match_step) by row and state. The row of a byte is its class times the number of right states, plus the
    // right state after it. Empty if there would be too many.
    const std::vector<u16>& steps() const { return steps_; }

    // Whether no match has the byte. The states next to it then do not depend on others.
    bool breaks(u8 byte) const { return breaks_[byte]; }

    const std::optional<MatchRuns>& runs() const { return runs_; }

private:
    void join_steps(u32 classes);
    bool class_breaks(u32 group) const;
    void find_runs(u32 classes);
    bool are_cut(const MatchRuns& runs, u32 right) const;

    std::vector<u8> bytes_;
    std::vector<u16> steps_;
    std::array<bool, 256> breaks_{};
    std::optional<MatchRuns> runs_;
    MatchTables tables_{};
};

}  // namespace headrace
