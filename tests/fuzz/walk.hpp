// Reads structure by a dialect's automaton byte by byte: the reference for every kernel, tile size and number of
// threads.
#pragma once

#include "lenient_runs.hpp"
#include "structure/cpu/scan.hpp"

namespace fuzz {

using namespace headrace;

class Walk {
public:
    Walk(const Dialect& dialect, const u8* text, usize size) : dialect_(dialect), automaton_(dialect.automaton) {
        u8 state = 0;
        const LenientRuns runs(dialect, text, size);
        for (usize at = 0; at < size; ++at) {
            u32 group = automaton_.class_of[text[at]];
            const bool may_open = dialect.lenient_quotes && text[at] == dialect.quote &&
                                  automaton_.next[group][state] != automaton_.next[dialect.unreal_group][state];
            if (may_open && !runs.opens(at)) group = dialect.unreal_group;
            take(automaton_.emit[group][state], at);
            state = automaton_.next[group][state];
        }
        if (!automaton_.is_idle(state)) end_input(state, size);
    }

    const Structure& structure() const { return found_; }

private:
    void take(u8 emit, usize at) {
        if (emit & EMIT_OPEN) start_ = at, fields_ = 0;
        if (emit & EMIT_STRAY) found_.strays.push_back(at);
        if (emit & EMIT_BLANK) {
            ++found_.blank_lines;
            return;
        }
        if (emit & EMIT_FIELD) end_field(at + 1 - dialect_.separator_length);
        if (emit & EMIT_RECORD) end_record(at + 1 - dialect_.line_end_length, emit & EMIT_COMMENT);
    }

    void end_field(usize end) {
        found_.field_ends.push_back(end);
        ++fields_;
    }

    void end_record(usize end, bool comment) {
        end_field(end);
        found_.record_starts.push_back(start_);
        found_.field_counts.push_back(fields_);
        found_.comments.push_back(comment);
    }

    // The end of input ends the record that is open.
    void end_input(u8 state, usize size) {
        end_record(size, automaton_.comment >> state & 1);
        found_.unclosed_quote = automaton_.is_quoted(state);
        if (automaton_.unfinished >> state & 1) found_.strays.push_back(size);
    }

    const Dialect& dialect_;
    const Automaton& automaton_;
    Structure found_;
    usize start_ = 0, fields_ = 0;
};

}  // namespace fuzz
