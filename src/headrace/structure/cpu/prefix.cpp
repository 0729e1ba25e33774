#include "structure/cpu/prefix.hpp"

#include <algorithm>

namespace headrace {
namespace {

// Return the first byte from `at` on that is not of the last symbol group ("other"), or the text's end.
usize behind_others(const Automaton& automaton, std::string_view text, usize at) {
    while (at < text.size() && automaton.class_of[static_cast<u8>(text[at])] + 1u == automaton.groups) ++at;
    return at;
}

}  // namespace

usize PrefixReader::without_padding(std::string_view field) const {
    const usize end = dialect_.text_end(field, usize{0}, field.size());
    return end - dialect_.text_begin(field, usize{0}, end);
}

void PrefixReader::end_field(usize end, usize delimiter) {
    if (column_ < record_.size()) {
        const std::string_view field = text_.substr(begin_, end - begin_ - std::min(delimiter, end - begin_));
        const usize size = without_padding(field);
        const bool is_null = field.size() == 2 && static_cast<u8>(field[0]) == dialect_.escape;
        record_[column_] = size > marks_ && !is_null ? size - marks_ : 0;
    }
    ++column_;
    begin_ = end;
    marks_ = 0;
}

void PrefixReader::end_record(usize end, bool counts) {
    end_field(end, dialect_.line_end_length);
    if (counts) {
        ++found_.records;
        found_.lengths.add(end - found_.bytes);
        found_.bytes = end;
        for (usize i = 0; i < column_ && i < record_.size(); ++i) found_.fields[i].add(record_[i]);
    }
    column_ = 0;
}

const PrefixSample& PrefixReader::read(usize known) {
    const Automaton& automaton = dialect_.automaton;
    const std::string_view text = text_.substr(0, known);
    const u8 other = static_cast<u8>(automaton.groups - 1);
    for (; at_ < text.size(); ++at_) {
        const u8 byte = static_cast<u8>(text[at_]);
        const u8 group = automaton.class_of[byte], emit = automaton.emit[group][state_], before = state_;
        state_ = automaton.next[group][state_];
        if (emit & EMIT_OPEN) {
            begin_ = at_;
            marks_ = 0;
        }
        count_mark(byte);
        if (emit == 0) {
            // Most bytes of a field change nothing. They are skipped without a table lookup each.
            if (group == other && state_ == before) at_ = behind_others(automaton, text, at_ + 1) - 1;
            continue;
        }
        if (emit & EMIT_FIELD) end_field(at_ + 1, dialect_.separator_length);
        if (emit & EMIT_RECORD) end_record(at_ + 1, !(emit & (EMIT_COMMENT | EMIT_BLANK)));
    }
    return found_;
}

usize first_width(const Dialect& dialect, std::string_view text) {
    const Automaton& automaton = dialect.automaton;
    usize width = 0;
    u8 state = 0;
    for (const char byte : text) {
        const u8 group = automaton.class_of[static_cast<u8>(byte)], emit = automaton.emit[group][state];
        state = automaton.next[group][state];
        if (emit & EMIT_FIELD) ++width;
        if (!(emit & EMIT_RECORD)) continue;
        if (!(emit & (EMIT_COMMENT | EMIT_BLANK))) return width + 1;
        width = 0;
    }
    return 0;
}

}  // namespace headrace
