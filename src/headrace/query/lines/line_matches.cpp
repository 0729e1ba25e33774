// A search that continues after the longest match may read to the end of the line, and do so for each match. Searches
// therefore may take a few steps for each byte. If they need more, the nodes from which a match can still end are found
// for the rest of the line. A search then begins only where a match does, and ends with the longest one.
#include "query/lines/line_matches.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "query/lines/automaton/live_nodes.hpp"

namespace headrace {
namespace {

constexpr u64 plain_steps = 4;  // for each byte, before live nodes are used
constexpr u64 min_steps = 1024;

bool is_of_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class LongestMatches {
public:
    LongestMatches(LineStates& states, std::string_view line, const MatchRules& rules, MatchBegins& begins,
                   std::vector<MatchSpan>& found)
        : states_(states), line_(line), rules_(rules), begins_(begins), found_(found) {}

    u64 run() {
        const u64 limit = rules_.max_words == 0 ? 0 : plain_steps * line_.size() + min_steps;
        u64 begin = begins_.next(0);
        while (begin < line_.size() && steps_ < limit) begin = begins_.next(search(begin));
        if (begin == line_.size()) return steps_;
        live_.emplace(states_.automaton(), line_, rules_.max_words, [&](u64 at) { return may_end(at); });
        while (begin < line_.size()) begin = begins_.next(search(begin));
        return steps_ + live_->steps();
    }

private:
    // Searches for a match that begins at a byte. Returns the byte where the next match may begin.
    u64 search(u64 begin) {
        if (rules_.is_word && begin != 0 && is_of_word(line_[begin - 1])) return begin + 1;
        u64 end = begin;
        std::array<u32, 1> row{begin == 0 ? states_.at_line_start() : states_.in_line()};
        for (u64 at = begin; at < line_.size() && may_continue(at, row[0]);) {
            const u8 byte = static_cast<u8>(line_[at++]);
            u32 after = states_.next()[row[0] + states_.class_of()[byte]];
            if (after == states_.unknown()) after = states_.make(row, 0, byte);
            ++steps_;
            if (after == states_.failed()) break;
            row[0] = after;
            const bool accepts = states_.accepts(after) || (at == line_.size() && states_.accepts_at_end(after));
            if (accepts && may_end(at)) end = at;
        }
        if (end > begin) found_.push_back({begin, end});
        return std::max(end, begin + 1);
    }

    bool may_end(u64 at) const { return !rules_.is_word || at == line_.size() || !is_of_word(line_[at]); }

    bool may_continue(u64 at, u32 row) {
        if (!live_) return true;
        const auto& nodes = states_.nodes_of(row);
        return std::any_of(nodes.begin(), nodes.end(), [&](char32_t node) { return live_->has(at, node); });
    }

    LineStates& states_;
    std::string_view line_;
    const MatchRules& rules_;
    MatchBegins& begins_;
    std::vector<MatchSpan>& found_;
    std::optional<LiveNodes> live_;
    u64 steps_ = 0;
};

}  // namespace

u64 matches_in_line(LineStates& states, std::string_view line, const MatchRules& rules, MatchBegins& begins,
                    std::vector<MatchSpan>& found) {
    return LongestMatches(states, line, rules, begins, found).run();
}

}  // namespace headrace
