// Writes selected lines and those near them. One thread goes through the lines that have hits and those between two of
// them. Lines that follow each other are copied at once, unless they have numbers or names.
#include <algorithm>

#include "query/lines/lines.hpp"

namespace headrace {
namespace {

constexpr u64 lines_ahead = 8;  // read ahead: they are not in this thread's cache

}  // namespace

// Reads the first bytes of lines ahead.
void LineSearch::prefetch(Lines lines) const {
    constexpr u64 cache_line = 64, most = 4 * cache_line;
    for (u64 at = lines.begin; at < std::min(lines.end, lines.begin + most); at += cache_line)
        __builtin_prefetch(block_.data() + at);
}

// Selects lines with hits, and passes those between them; if inverted, the other way around.
void LineSearch::divide() {
    u64 at = 0;
    for (const PieceLines& piece : found_) divide(piece, at);
    if (options_.is_inverted) {
        select({at, block_.size()}, {});
    } else {
        pass({at, block_.size()});
    }
}

void LineSearch::divide(const PieceLines& piece, u64& at) {
    u64 first = 0;
    for (u64 i = 0; i < piece.lines.size(); ++i) {
        const Lines lines = piece.lines[i];
        if (i + lines_ahead < piece.lines.size()) prefetch(piece.lines[i + lines_ahead]);
        if (options_.is_inverted) {
            select({at, lines.begin}, {});
            pass(lines);
        } else {
            u64 next = first;
            while (next < piece.hits.size() && piece.hits[next] < lines.end) ++next;
            pass({at, lines.begin});
            select(lines, {piece.hits.data() + first, next - first});
            first = next;
        }
        at = lines.end;
    }
}

// Selects as many lines as may still be selected. Hits are those of a single line, if matches are shown.
void LineSearch::select(Lines lines, std::span<const u64> hits) {
    u64 count = selected_left_;
    const Lines first = options_.max_count == no_limit ? lines : first_lines(lines, count);
    if (options_.max_count != no_limit) selected_left_ -= count;
    write_selected(first, hits);
    pass({first.end, lines.end});
}

void LineSearch::write_selected(Lines lines, std::span<const u64> hits) {
    if (lines.begin == lines.end) return;
    has_selected_ = true;
    if (options_.only_matching) return show_matches(lines, hits);
    show_preceding();
    if (!options_.mark.empty() && !options_.is_inverted) {
        show_marked(lines, hits);
    } else {
        show(lines, ':');
    }
    has_written_ = true;
    after_left_ = options_.after;
    rest_ = {lines.end, lines.end};
}

void LineSearch::pass(Lines lines) {
    if (lines.begin == lines.end || options_.only_matching) return;
    u64 count = after_left_;
    const Lines first = first_lines(lines, count);
    if (first.begin != first.end) {
        show(first, '-');
        after_left_ -= count;
        rest_ = {first.end, first.end};
    }
    if (rest_.begin == rest_.end) rest_.begin = first.end;
    rest_.end = lines.end;
}

// Writes the lines before a selected one, and a separator if other lines are between these and the last written one.
void LineSearch::show_preceding() {
    u64 count = options_.before;
    const Lines near = last_lines(rest_, count);
    const bool has_all = near.begin == rest_.begin;
    const u64 earlier = has_all ? std::min<u64>(options_.before - count, preceding_.size()) : 0;
    const bool is_adjacent = has_all && earlier == preceding_.size() && !was_dropped_;
    if (options_.is_grouped && has_written_ && !is_adjacent) out_ += "--\n";
    for (u64 i = preceding_.size() - earlier; i < preceding_.size(); ++i) {
        begin_numbered(counted_ + 1 - (preceding_.size() - i), '-');
        out_ += preceding_[i];
    }
    show(near, '-');
    preceding_.clear();
    was_dropped_ = false;
}

void LineSearch::show(Lines lines, char separator) {
    if (lines.begin == lines.end) return;
    if (options_.name.empty() && !options_.is_numbered) return append(lines);
    for (u64 at = lines.begin; at < lines.end;) {
        const u64 end = line_end(at);
        begin_line(at, separator);
        append({at, end});
        at = end;
    }
}

void LineSearch::show_marked(Lines lines, std::span<const u64> hits) {
    begin_line(lines.begin, ':');
    u64 at = lines.begin;
    for (const auto [begin, end] : matches_in(lines, hits)) {
        out_.append(block_.substr(at, begin - at)).append(options_.mark);
        out_.append(block_.substr(begin, end - begin)).append(options_.unmark);
        at = end;
    }
    append({at, lines.end});
}

void LineSearch::show_matches(Lines lines, std::span<const u64> hits) {
    if (options_.is_inverted) return;
    for (const auto [begin, end] : matches_in(lines, hits)) {
        begin_line(lines.begin, ':');
        out_.append(options_.mark).append(block_.substr(begin, end - begin)).append(options_.unmark) += '\n';
    }
}

void LineSearch::begin_line(u64 at, char separator) {
    if (options_.is_numbered) {
        counted_ += line_ends(counted_upto_, at);
        counted_upto_ = at;
    }
    begin_numbered(counted_ + 1, separator);
}

void LineSearch::begin_numbered(u64 number, char separator) {
    if (!options_.name.empty()) (out_ += options_.name) += separator;
    if (options_.is_numbered) (out_ += std::to_string(number)) += separator;
}

void LineSearch::append(Lines lines) {
    out_ += block_.substr(lines.begin, lines.end - lines.begin);
    if (lines.end == block_.size() && block_.back() != '\n') out_ += '\n';
}

// Keeps the lines of the block that a selected one of the next block may need.
void LineSearch::keep_rest() {
    u64 count = options_.before;
    const Lines near = last_lines(rest_, count);
    if (near.begin != rest_.begin) {
        preceding_.clear();
        was_dropped_ = true;
    }
    while (preceding_.size() + count > options_.before) {
        preceding_.pop_front();
        was_dropped_ = true;
    }
    for (u64 at = near.begin; at < near.end;) {
        const u64 end = line_end(at);
        preceding_.emplace_back(block_.substr(at, end - at));
        at = end;
    }
    if (options_.is_numbered) counted_ += line_ends(counted_upto_, block_.size());
    counted_upto_ = 0;
}

// Returns the first `count` lines, or all if they are fewer; `count` becomes their number.
LineSearch::Lines LineSearch::first_lines(Lines lines, u64& count) const {
    u64 end = lines.begin, found = 0;
    for (; found < count && end < lines.end; ++found) end = line_end(end);
    count = found;
    return {lines.begin, end};
}

LineSearch::Lines LineSearch::last_lines(Lines lines, u64& count) const {
    u64 begin = lines.end, found = 0;
    for (; found < count && begin > lines.begin; ++found) begin = line_begin(lines.begin, begin - 1);
    count = found;
    return {begin, lines.end};
}

}  // namespace headrace
