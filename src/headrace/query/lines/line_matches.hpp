// Finds the matches in a line.
#pragma once

#include <string_view>
#include <vector>

#include "query/lines/automaton/line_states.hpp"
#include "query/lines/line_candidates.hpp"
#include "query/match/cpu/match.hpp"

namespace headrace {

struct MatchRules {
    bool is_word;   // matches neither follow a byte of a word nor are followed by one: letters, digits, underscores
    u64 max_words;  // words of 8 bytes that sets of nodes take, about; 0 to use live nodes for any line
};

// Finds where matches in a line may begin, in ascending order.
class MatchBegins {
public:
    // [begin, end): the line in the block of the candidates, without a line feed.
    MatchBegins(const LineCandidates& candidates, u64 begin, u64 end)
        : candidates_(candidates), begin_(begin), end_(end), candidate_(begin) {}

    // Returns the first byte of the line, `at` or later, where a match may begin; the line's size if there is none.
    u64 next(u64 at) {
        if (!candidates_.has_part()) return at;
        at += begin_;
        if (is_new_ || candidate_ < at) candidate_ = candidates_.next(at, end_);
        is_new_ = false;
        return candidate_ == end_ ? end_ - begin_ : candidates_.first_begin(at, candidate_) - begin_;
    }

private:
    LineCandidates candidates_;
    u64 begin_, end_;
    u64 candidate_;  // first one after the last begin
    bool is_new_ = true;
};

// Appends the leftmost-longest matches of at least a byte in a line, which has no line feed. They do not overlap.
// `states` are those of the task `match`. Returns the number of steps, which is linear in the size of the line.
u64 matches_in_line(LineStates& states, std::string_view line, const MatchRules& rules, MatchBegins& begins,
                    std::vector<MatchSpan>& found);

}  // namespace headrace
