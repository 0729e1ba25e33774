// Selects the lines of a text in which a pattern occurs or an expression matches, and writes them as grep shows them.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/find/cpu/find.hpp"
#include "query/find/cpu/find_kernels.hpp"
#include "query/lines/automaton/line_states.hpp"
#include "query/lines/line_candidates.hpp"
#include "query/lines/line_matches.hpp"
#include "query/lines/line_walk.hpp"
#include "query/match/cpu/window_kernels.hpp"

namespace headrace {

// A line is selected by hits of a pattern or, if there is an automaton, by that. Pointers may be null.
struct LineSelector {
    const FindPattern* pattern;      // if there is an automaton: a part of each of its matches
    const LineWindows* windows;      // one of them is in each match, with the line ends next to it
    const LineAutomaton* automaton;  // selects lines
    u64 max_items;                   // entries of a table of states (LineStates)
    bool is_word;                    // of MatchRules, for matches of the automaton in selected lines
    u64 reach;                       // of LineCandidates, for the automaton
};

constexpr u64 no_limit = ~u64{0};

struct LineOptions {
    bool is_inverted;    // lines without a hit are selected
    bool only_matching;  // each hit that overlaps none before it is written as a line; none if inverted
    bool is_numbered;    // lines begin with their number, from 1 on
    u64 before;          // lines that are written before and after a selected one, unless only_matching
    u64 after;
    bool is_grouped;   // a separator is written between lines that do not follow each other
    u64 max_count;     // lines that are selected at most; later ones are read as not selected
    std::string name;  // lines begin with it; empty for none
    std::string mark;  // written before each hit; empty for none
    std::string unmark;
};

// Selects lines of files, whose blocks of whole lines it gets in order. The last one of a file may lack its line end.
class LineSearch {
public:
    // The pattern has no line end.
    LineSearch(const LineSelector& selector, LineOptions options, FindResources resources)
        : selector_(selector), options_(std::move(options)), resources_(resources), newline_("\n", false) {
        selected_left_ = options_.max_count;
    }

    // Begins the next file, whose lines get the name. States of the automaton are kept.
    void begin_file(std::string name);

    // Returns false if no line of a text can be selected, because it lacks the pattern.
    bool may_select(std::string_view text);

    // Returns the number of selected lines of a block. `is_line`: whether it is known to be one line.
    u64 count(std::string_view block, bool is_line = false);

    // Returns the lines to write for a block: selected ones, and those near them. They are valid until the next call.
    std::string_view write(std::string_view block, bool is_line = false);

    // Whether a line was selected in the blocks that were written.
    bool has_selected() const { return has_selected_; }

    // Whether no later block can change the output.
    bool is_done() const { return selected_left_ == 0 && after_left_ == 0; }

    // Number of steps that searches for matches in selected lines took (matches_in_line).
    u64 match_steps() const { return match_steps_; }

private:
    // Whole lines of the block.
    struct Lines {
        u64 begin;
        u64 end;
    };

    // Lines of a piece of the block that have hits. Those that follow each other are joined, unless matches are shown.
    struct PieceLines {
        u64 count = 0;
        std::vector<Lines> lines;  // none if they are counted only
        std::vector<u64> hits;     // of the pattern in the lines, if matches are shown
    };

    bool shows_matches() const { return (options_.only_matching || !options_.mark.empty()) && !options_.is_inverted; }
    void prefetch(Lines lines) const;
    void find_in_line(bool is_counted);
    void find_lines(bool is_counted, bool is_line);
    void update_plan();
    void find_in_piece(Lines lines, bool is_counted, PieceLines& piece) const;
    void select_in_piece(LineStates& states, Lines lines, PieceLines& piece) const;
    u64 select_by_candidates(LineStates& states, Lines lines, PieceLines& piece) const;
    void add_line(Lines lines, u64 hit, PieceLines& piece) const;
    void add(Lines line, PieceLines& piece) const;
    LineCandidates candidates() const;
    std::span<const MatchSpan> matches_in(Lines line, std::span<const u64> hits);
    void divide();
    void divide(const PieceLines& piece, u64& at);
    void select(Lines lines, std::span<const u64> hits);
    void write_selected(Lines lines, std::span<const u64> hits);
    void pass(Lines lines);
    void show_preceding();
    void show(Lines lines, char separator);
    void show_marked(Lines lines, std::span<const u64> hits);
    void show_matches(Lines lines, std::span<const u64> hits);
    void begin_line(u64 at, char separator);
    void begin_numbered(u64 number, char separator);
    void append(Lines lines);
    void keep_rest();
    Lines first_lines(Lines lines, u64& count) const;
    Lines last_lines(Lines lines, u64& count) const;
    u64 line_begin(u64 least, u64 at) const;
    u64 line_end(u64 at) const;
    u64 line_end_before(u64 most, u64 at) const;
    u64 line_ends(u64 begin, u64 end) const;

    LineSelector selector_;
    LineOptions options_;
    FindResources resources_;
    FindPattern newline_;
    bool has_selected_ = false;
    bool has_written_ = false;           // a line of this or an earlier file
    bool was_dropped_ = true;            // the lines since the last written one are not all in `preceding_`
    u64 selected_left_;                  // lines that may still be selected
    u64 after_left_ = 0;                 // lines that are written after the last selected one
    std::deque<std::string> preceding_;  // last lines of earlier blocks that were not written
    u64 counted_ = 0;                    // lines before `counted_upto_`
    u64 counted_upto_ = 0;               // position in the block
    Lines rest_{};                       // lines of the block before the current ones that were not written
    std::optional<FindPlan> plan_;       // if there is a pattern
    u64 texts_ = 0;                      // that were searched by a plan
    std::string_view block_;
    std::vector<PieceLines> found_;
    std::mutex taking_;
    std::vector<std::unique_ptr<LineStates>> spare_states_;  // of threads that do not search now
    std::unique_ptr<LineStates> match_states_;
    std::vector<MatchSpan> matches_;
    u64 match_steps_ = 0;
    std::string out_;
};

}  // namespace headrace
