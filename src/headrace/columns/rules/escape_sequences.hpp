// Defines which bytes of a field are literal, and the bytes that letters after an escape stand for: \n is a line feed.
// They are those of PostgreSQL's COPY in text format and of MySQL's LOAD DATA: PostgreSQL 17, "COPY", section "Text
// Format"; MySQL 8.4, section 15.2.9. Codes in octal and hexadecimal, which PostgreSQL reads but does not write, are
// not among them.
#pragma once

#include "structure/dialect_flags.hpp"

HR_BEGIN_NAMESPACE

// Returns whether an escaped byte of the dialect may stand for another byte.
HR_FN bool decodes_escapes(const DialectFlags& dialect) { return dialect.escape_sequences; }

// Returns the byte that an escaped one stands for. No result is a letter, so the function has no effect on its results.
HR_FN u8 escaped_byte(u8 byte) {
    switch (byte) {
        case '0':
            return 0;
        case 'b':
            return '\b';
        case 'f':
            return '\f';
        case 'n':
            return '\n';
        case 'r':
            return '\r';
        case 't':
            return '\t';
        case 'v':
            return '\v';
        case 'Z':
            return 0x1A;
        default:
            return byte;
    }
}

// Marks to be removed from a field's text.
struct TextMarks {
    u8 quote;
    u8 escape;
    bool doubles;  // two quotes inside quotes mean one
    bool escapes;
    bool lenient;
    bool sequences;
};

// Returns the index of the literal byte at or after byte `i` of a field's text: `i`, or `i + 1` if byte `i` is an
// escape or the first of two quotes. `field`: its `n` bytes from `p` on, and whether it is `quoted`.
template <class Field>
HR_FN usize literal_index(const TextMarks& marks, const Field& field, usize i) {
    const u8 byte = field.p[i];
    const bool is_quote = field.quoted && marks.doubles && byte == marks.quote;
    if (!is_quote && !(marks.escapes && byte == marks.escape)) return i;
    if (i + 1 == field.n || (marks.lenient && byte == marks.quote && field.p[i + 1] != byte)) return i;
    return i + 1;
}

// Returns the literal byte at or after byte `i`, and moves `i` to it.
template <class Field>
HR_FN u8 literal_at(const TextMarks& marks, const Field& field, usize& i) {
    const usize begin = i;
    i = literal_index(marks, field, i);
    const bool decodes = marks.sequences && i != begin && field.p[begin] == marks.escape;
    return decodes ? escaped_byte(field.p[i]) : field.p[i];
}

HR_END_NAMESPACE
