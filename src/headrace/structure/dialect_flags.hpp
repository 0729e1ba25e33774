// Options of a dialect that are on or off, for the code of both devices. They have the names of dialect.py, from which
// they are read by name: a new one is declared here and there. What several flags have in common is a function here.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

struct DialectFlags {
    bool double_quote;        // two quotes inside quotes mean one
    bool escape_sequences;    // an escaped letter may stand for another byte (columns/rules/escape_sequences.hpp)
    bool lenient_quotes;      // malformed quotes are text (cpu/lenient.hpp)
    bool strict_quotes;       // quotes in unquoted fields are malformed
    bool skip_initial_space;  // spaces at the start of a field are skipped
    bool strip;               // spaces around a field are skipped; then skip_initial_space is set too
    bool skip_blank_lines;    // a line end at the start of a record is skipped

    // Returns whether spaces at the edges of a field may be no part of its text. `strip` sets the flag too.
    HR_MEMBER bool trims_fields() const { return skip_initial_space; }

    // Returns whether a blank line is a record of one empty field.
    HR_MEMBER bool keeps_blank_lines() const { return !skip_blank_lines; }

    // Returns the begin of a field's text [begin, end), and its end, without the spaces that are no part of it.
    template <class Text, class Place>
    HR_MEMBER Place text_begin(const Text& text, Place begin, Place end) const {
        if (!skip_initial_space) return begin;
        while (begin < end && text[begin] == ' ') ++begin;
        return begin;
    }
    template <class Text, class Place>
    HR_MEMBER Place text_end(const Text& text, Place begin, Place end) const {
        if (!strip) return end;
        while (begin < end && text[end - 1] == ' ') --end;
        return end;
    }

    // Returns whether bytes that follow a quote may decide its meaning.
    HR_MEMBER bool looks_ahead() const { return lenient_quotes; }

    // Returns whether a malformed quote is text, so that its record stays.
    HR_MEMBER bool keeps_strays() const { return lenient_quotes; }

    // Makes the options those for texts without malformed quotes, which are read without a look at later bytes.
    HR_MEMBER void expect_wellformed_quotes() { lenient_quotes = false; }

    // Returns whether quotes inside unquoted fields are faults of their records.
    HR_MEMBER bool lists_strays() const { return strict_quotes || lenient_quotes; }
};

HR_END_NAMESPACE
