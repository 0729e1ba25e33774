// Several threads find the lines of a block that have hits. A search for a pattern goes on after the line of a hit,
// unless matches are shown. One thread then goes through these lines (line_output.cpp).
//
// An automaton reads whole lines, in pieces on several threads. If all matches have a literal in common, or one of a
// few windows, it reads lines with that only. It begins at the first byte that may be in a match with it. A piece with
// many of them is read whole.
#include "query/lines/lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/cpu/cache_blocks.hpp"
#include "query/find/cpu/probes.hpp"

namespace headrace {

HR_FOR_EACH_ISA(const PatternKernels&(), pattern_kernels)

namespace {

constexpr u64 few_bytes = 4096;   // in which line ends are counted without a search
constexpr u64 words_an_item = 8;  // memory of sets of nodes, by entries of the table of states
constexpr u64 hits_at_once = 512;
// An automaton reads a text in four parts side by side, and so in the time of a third of it from candidates.
constexpr u64 read_share = 3, few_read = 4096;

// Counts line ends in words of 8 bytes. A byte of `found` counts those at its place, in at most 255 words.
u64 count_line_ends(std::string_view text) {
    constexpr u64 each = 0x0101010101010101, low = 0x7F * each, most = 255;
    u64 count = 0, at = 0;
    while (at + 8 <= text.size()) {
        u64 found = 0;
        for (const u64 end = std::min<u64>(at + 8 * most, text.size() / 8 * 8); at < end; at += 8) {
            u64 word;
            std::memcpy(&word, text.data() + at, sizeof(word));
            word ^= '\n' * each;
            found += ~(((word & low) + low) | word | low) >> 7;
        }
        constexpr u64 pairs = 0x00FF00FF00FF00FF;
        const u64 sums = (found & pairs) + (found >> 8 & pairs);
        count += sums * 0x0001000100010001 >> 48;
    }
    return count + static_cast<u64>(std::count(text.begin() + static_cast<i64>(at), text.end(), '\n'));
}

FindText text_of(std::string_view text) { return {reinterpret_cast<const u8*>(text.data()), text.size()}; }

}  // namespace

u64 LineSearch::line_begin(u64 least, u64 at) const {
    const void* const found = memrchr(block_.data() + least, '\n', at - least);
    return found == nullptr ? least : static_cast<u64>(static_cast<const char*>(found) - block_.data()) + 1;
}

u64 LineSearch::line_end(u64 at) const { return line_end_before(block_.size(), at); }

// Returns `most` if the line does not end before it.
u64 LineSearch::line_end_before(u64 most, u64 at) const {
    const void* const found = std::memchr(block_.data() + at, '\n', most - at);
    return found == nullptr ? most : static_cast<u64>(static_cast<const char*>(found) - block_.data()) + 1;
}

u64 LineSearch::line_ends(u64 begin, u64 end) const {
    if (end - begin < few_bytes) return count_line_ends(block_.substr(begin, end - begin));
    return pattern_count(newline_, {reinterpret_cast<const u8*>(block_.data()) + begin, end - begin}, true, resources_);
}

// Finds the pattern in a block that is one line.
void LineSearch::find_in_line(bool is_counted) {
    found_.assign(1, {});
    PieceLines& line = found_[0];
    if (is_counted || !shows_matches()) {
        line.count = first_pattern(*selector_.pattern, text_of(block_), resources_) ? 1 : 0;
    } else {
        const auto allocate = [&](u64 count) {
            line.hits.resize(count);
            return line.hits.data();
        };
        pattern_positions(*selector_.pattern, text_of(block_), true, allocate, resources_);
        line.count = line.hits.empty() ? 0 : 1;
    }
    if (line.count != 0) line.lines = {{0, block_.size()}};
}

// Plans the search by samples of the first text, and of the 2nd, 4th, 8th and so on. A plan takes as long as the search
// of a small file, and as a tenth of a block.
void LineSearch::update_plan() {
    if (selector_.pattern != nullptr && std::has_single_bit(++texts_))
        plan_ = find_plan(*selector_.pattern, text_of(block_));
}

bool LineSearch::may_select(std::string_view text) {
    if (selector_.pattern == nullptr || options_.is_inverted) return true;
    block_ = text;
    update_plan();
    if (text.size() < plan_->length) return false;
    u64 position;
    FoundPositions found{&position, 1, 1};
    pattern_kernels_for(resources_.isa)().find(*plan_, {text_of(text).bytes, 0, text.size() - plan_->length + 1},
                                               found);
    return found.count != 0;
}

// Finds the lines that have hits. A piece has the lines that begin in its range of bytes.
void LineSearch::find_lines(bool is_counted, bool is_line) {
    if (selector_.automaton == nullptr && is_line) return find_in_line(is_counted);
    const Pieces pieces(block_.size(), 1);
    found_.resize(pieces.number());
    update_plan();
    const auto take = [&]() -> std::unique_ptr<LineStates> {
        if (selector_.automaton == nullptr) return nullptr;
        const std::scoped_lock lock(taking_);
        if (spare_states_.empty())
            return std::make_unique<LineStates>(*selector_.automaton, LineTask::select, selector_.max_items);
        std::unique_ptr<LineStates> states = std::move(spare_states_.back());
        spare_states_.pop_back();
        return states;
    };
    const auto find = [&](const std::unique_ptr<LineStates>& states, u64 piece) {
        PieceLines& own = found_[piece];
        own.count = 0;
        own.lines.clear();
        own.hits.clear();
        const u64 first = pieces.begin(piece), after = first + pieces.size(piece);
        const u64 begin = first == 0 ? 0 : line_end_before(after, first - 1);
        if (begin >= after) return;
        const Lines lines{begin, line_end(after - 1)};
        if (states == nullptr) return find_in_piece(lines, is_counted, own);
        select_in_piece(*states, lines, own);
    };
    for_each_piece(pieces.number(), resources_.threads, take, find, [&](std::unique_ptr<LineStates>& states) {
        if (states == nullptr) return;
        const std::scoped_lock lock(taking_);
        spare_states_.push_back(std::move(states));
    });
}

// Finds the lines in which the pattern occurs.
void LineSearch::find_in_piece(Lines lines, bool is_counted, PieceLines& piece) const {
    const FindPlan& plan = *plan_;
    const bool by_line = is_counted || !shows_matches();
    const u64 end = plan.length > block_.size() ? 0 : std::min(lines.end, block_.size() - plan.length + 1);
    const auto find = pattern_kernels_for(resources_.isa)().find;
    std::array<u64, hits_at_once> hits;
    for (u64 at = lines.begin; at < end;) {
        FoundPositions found{hits.data(), hits_at_once, hits_at_once};
        if (is_counted) found = {nullptr, 0, no_limit};
        found.by_line = by_line;
        find(plan, {text_of(block_).bytes, at, end}, found);
        piece.count += found.count;
        if (is_counted) return;
        for (u64 i = 0; i < found.count; ++i) add_line(lines, hits[i], piece);
        if (!by_line) piece.hits.insert(piece.hits.end(), hits.begin(), hits.begin() + static_cast<i64>(found.count));
        if (found.count < hits_at_once) return;
        at = by_line ? found.entry : hits.back() + 1;
    }
}

LineCandidates LineSearch::candidates() const {
    return {block_, plan_ ? &*plan_ : nullptr, selector_.windows, selector_.reach, resources_.isa};
}

// Finds the lines that the automaton selects: from one candidate to the next, if these are few.
void LineSearch::select_in_piece(LineStates& states, Lines lines, PieceLines& piece) const {
    const u64 rest = select_by_candidates(states, lines, piece);
    std::vector<u64> selected;
    select_lines(states, block_.substr(rest, lines.end - rest), rest == 0 || block_[rest - 1] == '\n', selected);
    for (const u64 at : selected) add_line(lines, rest + at, piece);
    piece.count += selected.size();
}

// Returns where the automaton has to read all bytes from, since there are many candidates, or it reads much after each.
u64 LineSearch::select_by_candidates(LineStates& states, Lines lines, PieceLines& piece) const {
    const LineCandidates candidates = this->candidates();
    std::vector<u64> found;
    u64 at = lines.begin, read = 0;
    for (bool is_more = true; is_more;) {
        if (!candidates.find(at, lines.end, found, is_more)) return at;
        for (const u64 candidate : found) {
            if (candidate < at || candidate >= lines.end) continue;
            const u64 begin = line_begin(candidates.first_begin(at, candidate), candidate);
            const CandidateEnd end = read_candidate(states, block_.substr(0, lines.end), begin, candidate);
            at = end.is_selected ? line_end(end.at - 1) : end.at;
            read += end.at - begin;
            if (end.is_selected) {
                add_line(lines, end.at - 1, piece);
                ++piece.count;
            }
            if (read > (at - lines.begin) / read_share + few_read) return at;
        }
    }
    return lines.end;
}

// Adds the line of a hit, unless it is the last one that was added.
void LineSearch::add_line(Lines lines, u64 hit, PieceLines& piece) const {
    const u64 least = piece.lines.empty() ? lines.begin : piece.lines.back().end;
    if (hit >= least) add({line_begin(least, hit), line_end(hit)}, piece);
}

void LineSearch::add(Lines line, PieceLines& piece) const {
    if (!piece.lines.empty() && piece.lines.back().end == line.begin && !shows_matches()) {
        piece.lines.back().end = line.end;
    } else {
        piece.lines.push_back(line);
    }
}

// Returns the matches in a line that do not overlap. They are valid until the next call.
std::span<const MatchSpan> LineSearch::matches_in(Lines line, std::span<const u64> hits) {
    matches_.clear();
    if (selector_.automaton != nullptr) {
        if (match_states_ == nullptr)
            match_states_ = std::make_unique<LineStates>(*selector_.automaton, LineTask::match, selector_.max_items);
        const u64 size = line.end - line.begin - (block_[line.end - 1] == '\n');
        const MatchRules rules{selector_.is_word, words_an_item * selector_.max_items};
        MatchBegins begins(candidates(), line.begin, line.begin + size);
        match_steps_ += matches_in_line(*match_states_, block_.substr(line.begin, size), rules, begins, matches_);
        for (MatchSpan& match : matches_) {
            match.begin += line.begin;
            match.end += line.begin;
        }
        return matches_;
    }
    u64 at = line.begin;
    for (const u64 hit : hits) {
        if (hit < at) continue;
        at = hit + selector_.pattern->bytes.size();
        matches_.push_back({hit, at});
    }
    return matches_;
}

void LineSearch::begin_file(std::string name) {
    options_.name = std::move(name);
    has_selected_ = false;
    was_dropped_ = true;
    selected_left_ = options_.max_count;
    after_left_ = counted_ = counted_upto_ = 0;
    preceding_.clear();
    rest_ = {};
}

u64 LineSearch::count(std::string_view block, bool is_line) {
    block_ = block;
    find_lines(true, is_line);
    u64 selected = 0;
    for (const PieceLines& piece : found_) selected += piece.count;
    if (options_.is_inverted) {
        const u64 lines = line_ends(0, block.size()) + (!block.empty() && block.back() != '\n');
        selected = lines - selected;
    }
    selected = std::min(selected, selected_left_);
    selected_left_ -= selected;
    return selected;
}

std::string_view LineSearch::write(std::string_view block, bool is_line) {
    block_ = block;
    out_.clear();
    rest_ = {};
    find_lines(false, is_line);
    divide();
    keep_rest();
    return out_;
}

}  // namespace headrace
