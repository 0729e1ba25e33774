// Selects lines by the states of an automaton.
#pragma once

#include <string_view>
#include <vector>

#include "query/lines/automaton/line_states.hpp"

namespace headrace {

// Append a position in each selected line, or that of its line end, ascending. The text has whole lines; the last one
// may lack its line end. `states` are those of the task `select`.
void select_lines(LineStates& states, std::string_view text, std::vector<u64>& found);

}  // namespace headrace
