// Selects lines by the states of an automaton.
#pragma once

#include <string_view>
#include <vector>

#include "query/lines/automaton/line_states.hpp"

namespace headrace {

// Append a position in each selected line, or that of its line end, ascending. The text has whole lines; the last one
// may lack its line end. If not `at_line_start`, the first one lacks bytes, and no match begins in these. `states` are
// those of the task `select`.
void select_lines(LineStates& states, std::string_view text, bool at_line_start, std::vector<u64>& found);

struct CandidateEnd {
    u64 at;            // after the last byte that was read
    bool is_selected;  // the line of byte at - 1 is selected
};

// Reads a text from `begin` on, before which no match begins that has a byte after it. Ends with the first match, or
// after the candidate as soon as the automaton is where it began: another match then has another candidate.
CandidateEnd read_candidate(LineStates& states, std::string_view text, u64 begin, u64 candidate);

}  // namespace headrace
