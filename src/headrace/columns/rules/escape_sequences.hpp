// Defines the bytes that letters after an escape stand for: \n is a line feed. They are those of PostgreSQL's COPY in
// text format and of MySQL's LOAD DATA: PostgreSQL 17, "COPY", section "Text Format"; MySQL 8.4, section 15.2.9. Codes
// in octal and hexadecimal, which PostgreSQL reads but does not write, are not among them.
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

HR_END_NAMESPACE
