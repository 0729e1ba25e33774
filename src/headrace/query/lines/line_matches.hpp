// Finds the matches in a line.
#pragma once

#include <string_view>
#include <vector>

#include "query/lines/automaton/line_states.hpp"
#include "query/match/cpu/match.hpp"

namespace headrace {

struct MatchRules {
    bool is_word;   // matches neither follow a byte of a word nor are followed by one: letters, digits, underscores
    u64 max_words;  // words of 8 bytes that sets of nodes take, about; 0 to use live nodes for any line
};

// Appends the leftmost-longest matches of at least a byte in a line, which has no line feed. They do not overlap.
// `states` are those of the task `match`. Returns the number of steps, which is linear in the size of the line.
u64 matches_in_line(LineStates& states, std::string_view line, const MatchRules& rules, std::vector<MatchSpan>& found);

}  // namespace headrace
