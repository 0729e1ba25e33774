// Interprets lenient quotes (structure/cpu/lenient.hpp) from the whole text at once: no tiles, no windows, no masks.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "structure/dfa.hpp"

namespace fuzz {

using namespace headrace;

class LenientRuns {
public:
    LenientRuns(const Dialect& dialect, const u8* text, usize size) : dialect_(dialect), text_(text), size_(size) {
        if (!dialect.lenient_quotes) return;
        for (usize at = 0; at < size; at = std::max(run_end(at), at + 1)) {
            if (is_quote(at)) add_run(at, run_end(at));
        }
    }

    // Returns whether the quote at `at`, the first byte of a field, opens it. Quotes alone do if they are even and a
    // delimiter follows. An odd run does if the next decisive run may close. If two quotes do not stand for one, "even"
    // is two or more, and every run counts as odd.
    bool opens(usize at) const {
        const usize end = run_end(at);
        if (dialect_.double_quote && (end - at) % 2 == 0) return delimiter_at(end);
        if (!dialect_.double_quote && end - at > 1 && delimiter_at(end)) return true;
        const auto next = std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) { return run.begin >= end; });
        return next != runs_.end() && next->may_close;
    }

private:
    struct Run {
        usize begin;
        bool may_close;  // otherwise it opens
    };

    // Limits of a reader's search backwards: more escapes count as pairs, and after more spaces no field begins.
    static constexpr usize MAX_ESCAPES = 32, MAX_SPACES = 16;

    bool is_quote(usize at) const { return at < size_ && text_[at] == dialect_.quote; }

    usize run_end(usize at) const {
        while (is_quote(at)) ++at;
        return at;
    }

    void add_run(usize begin, usize end) {
        const bool first_is_text = escaped(begin);
        const usize quotes = end - begin - first_is_text;
        if (quotes == 0 || (dialect_.double_quote && quotes % 2 == 0)) return;
        if (delimiter_at(end)) {
            runs_.push_back({begin, true});
        } else if (!first_is_text && delimiter_before(begin)) {
            runs_.push_back({begin, false});
        }
    }

    bool escaped(usize at) const {
        usize count = 0;
        while (count < std::min(at, MAX_ESCAPES) && text_[at - count - 1] == dialect_.escape) ++count;
        return count % 2 == 1;
    }

    bool stands(const u8* delimiter, usize length, usize at) const {
        return at + length <= size_ && std::memcmp(text_ + at, delimiter, length) == 0;
    }

    bool delimiter_at(usize at) const {
        if (at >= size_ || stands(dialect_.separator_text, dialect_.separator_length, at)) return true;
        if (!dialect_.universal_line_end) return stands(dialect_.line_end_text, dialect_.line_end_length, at);
        return text_[at] == '\n' || text_[at] == '\r';
    }

    bool ends_before(const u8* delimiter, usize length, usize at) const {
        return at >= length && stands(delimiter, length, at - length) && !escaped(at - length);
    }

    bool delimiter_before(usize at) const {
        for (usize i = 0; dialect_.skip_initial_space && i < MAX_SPACES && at > 0 && text_[at - 1] == ' '; ++i) --at;
        if (at == 0 || ends_before(dialect_.separator_text, dialect_.separator_length, at)) return true;
        if (!dialect_.universal_line_end) return ends_before(dialect_.line_end_text, dialect_.line_end_length, at);
        return (text_[at - 1] == '\n' || text_[at - 1] == '\r') && !escaped(at - 1);
    }

    const Dialect& dialect_;
    const u8* const text_;
    const usize size_;
    std::vector<Run> runs_;  // that are decisive
};

}  // namespace fuzz
