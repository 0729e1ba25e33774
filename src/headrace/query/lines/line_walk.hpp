// Reads lines by the states of an automaton: selects lines, and finds the matches in a line.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "query/lines/line_states.hpp"
#include "query/match/cpu/match.hpp"

namespace headrace {

// Append a position in each selected line, or that of its line end, ascending. The text has whole lines; the last one
// may lack its line end. `states` are those of the task `select`.
void select_lines(LineStates& states, std::string_view text, std::vector<u64>& found);

// Bytes of a line and states there, after which no match ends: memory of matches_in_line().
class LineFailures {
public:
    void clear(u64 size);
    bool has(u64 at, u32 state) const;
    void add(u64 at, u32 state);

private:
    static u64 key(u64 at, u32 state) { return at << 32 | state; }

    std::vector<u32> first_;           // by byte: the state that was added first, 0 for none
    std::unordered_set<u64> further_;  // other states
    u64 most_ = 0;
};

// Append the leftmost-longest matches of at least a byte in a line, which has no line feed. They do not overlap.
// `states` are those of the task `match`.
void matches_in_line(LineStates& states, std::string_view line, LineFailures& failures, std::vector<MatchSpan>& found);

}  // namespace headrace
