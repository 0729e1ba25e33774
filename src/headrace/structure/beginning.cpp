#include "structure/beginning.hpp"

namespace headrace {
namespace {

// The first byte from `at` on that is not of the last group, or the text's end.
usize behind_others(const Automaton& automaton, std::string_view text, usize at) {
    while (at < text.size() && automaton.class_of[static_cast<u8>(text[at])] + 1u == automaton.groups) ++at;
    return at;
}

}  // namespace

Beginning look_at_beginning(const Dialect& dialect, std::string_view text, usize width) {
    const Automaton& automaton = dialect.automaton;
    Beginning found;
    found.fields.resize(width);
    std::vector<u64> record(width);  // of the record at hand, which counts when it ends
    usize column = 0, begin = 0, quotes = 0;
    u8 state = 0;
    const auto end_field = [&](usize behind, usize delimiter) {
        const usize raw = behind - begin, other = quotes + delimiter;
        if (column < width) record[column] = raw > other ? raw - other : 0;
        ++column;
        begin = behind;
        quotes = 0;
    };
    const u8 other = static_cast<u8>(automaton.groups - 1);
    for (usize at = 0; at < text.size(); ++at) {
        const u8 byte = static_cast<u8>(text[at]);
        const u8 group = automaton.class_of[byte], emit = automaton.emit[group][state], before = state;
        state = automaton.next[group][state];
        quotes += byte == dialect.quote ? 1 : 0;
        if (emit == 0) {
            // Inside a field most bytes change nothing, and are passed without waiting for the state before each.
            if (group == other && state == before) at = behind_others(automaton, text, at + 1) - 1;
            continue;
        }
        if (emit & EMIT_OPEN) {
            begin = at;
            quotes = byte == dialect.quote ? 1 : 0;
        }
        if (emit & EMIT_FIELD) end_field(at + 1, dialect.separator_length);
        if (!(emit & EMIT_RECORD)) continue;
        end_field(at + 1, dialect.line_end_length);
        if (!(emit & (EMIT_COMMENT | EMIT_BLANK))) {
            ++found.records;
            found.lengths.add(at + 1 - found.bytes);
            found.bytes = at + 1;
            for (usize i = 0; i < column && i < width; ++i) found.fields[i].add(record[i]);
        }
        column = 0;
    }
    return found;
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
