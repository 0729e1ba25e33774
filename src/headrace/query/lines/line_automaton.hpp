// Selects the lines of a text in which a regular expression matches, by one pass of a deterministic automaton. The
// automaton reads each line from its start, and a line is selected as soon as a match ends. So no line is read further
// than needed, and none is read twice (Thompson 1968, "Regular expression search algorithm").
#pragma once

#include <string_view>
#include <vector>

#include "core/cpu/portable.hpp"

namespace headrace {

// Tables of the automaton, states as bytes. The next states are listed by class and state.
struct LineParts {
    std::string_view class_of, transitions, accepting, at_line_end;
};

class LineAutomaton {
public:
    // `start`: state at the start of a line. Throws std::invalid_argument if sizes differ or a state does not exist.
    LineAutomaton(const LineParts& parts, u32 start);

    // Append a position in each selected line, or that of its line end, ascending. The text has whole lines; the last
    // one may lack its line end.
    void select(std::string_view text, std::vector<u64>& found) const;

private:
    // Rows of 256 next rows, one row a state, and two rows more. A row is named by the index of its first entry. From
    // row matched_ on, a match has ended: before the last byte that was read, or (row ended_) before that line feed.
    std::vector<u32> next_;
    std::vector<bool> ends_;  // by state: whether a line that ends here is selected
    u32 start_, matched_, ended_;
};

}  // namespace headrace
