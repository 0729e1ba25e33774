// The dialects that targets read, made from the tables that dialects.py wrote.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "structure/dfa.hpp"

namespace fuzz {

using namespace headrace;

// A dialect as dialects.inc has it. Tables are hexadecimal: `classes` pairs of a byte and its group, `next` and `emit`
// a row of states for each group.
struct DialectText {
    u32 states, groups;
    u64 idle, quoted, unfinished, comment;
    u32 separator_length, line_end_length, unreal_group;
    i32 quote, escape;
    u8 separator, line_end;
    DialectFlags flags;
    bool plain, universal_line_end;
    const char *separator_text, *line_end_text, *comment_text;
    const char *classes, *next, *emit;
};

inline const DialectText DIALECT_TEXTS[] = {
#include "dialects.inc"
};

inline u8 hex_byte(const char* digits) {
    const auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
    return static_cast<u8>(value(digits[0]) * 16 + value(digits[1]));
}

inline std::string hex_text(const char* digits) {
    std::string bytes;
    for (; *digits != '\0'; digits += 2) bytes += static_cast<char>(hex_byte(digits));
    return bytes;
}

inline Dialect made(const DialectText& text) {
    Dialect dialect{};
    Automaton& a = dialect.automaton;
    a.states = text.states;
    a.groups = text.groups;
    a.idle = text.idle;
    a.quoted = text.quoted;
    a.unfinished = text.unfinished;
    a.comment = text.comment;
    for (u32 group = 0; group < a.groups; ++group) {
        for (u32 state = 0; state < a.states; ++state) {
            a.next[group][state] = hex_byte(text.next + 2 * (group * a.states + state));
            a.emit[group][state] = hex_byte(text.emit + 2 * (group * a.states + state));
        }
    }
    for (u8& group : a.class_of) group = static_cast<u8>(a.groups - 1);
    for (const char* pair = text.classes; *pair != '\0'; pair += 4) {
        dialect.special[dialect.special_count++] = hex_byte(pair);
        a.class_of[hex_byte(pair)] = hex_byte(pair + 2);
    }
    dialect.separator_length = text.separator_length;
    dialect.line_end_length = text.line_end_length;
    dialect.unreal_group = text.unreal_group;
    const std::string separator = hex_text(text.separator_text), line_end = hex_text(text.line_end_text);
    std::copy(separator.begin(), separator.end(), dialect.separator_text);
    std::copy(line_end.begin(), line_end.end(), dialect.line_end_text);
    dialect.quote = text.quote;
    dialect.escape = text.escape;
    dialect.separator = text.separator;
    dialect.line_end = text.line_end;
    static_cast<DialectFlags&>(dialect) = text.flags;
    dialect.plain = text.plain;
    dialect.universal_line_end = text.universal_line_end;
    return dialect;
}

inline const std::vector<Dialect>& dialects() {
    static const std::vector<Dialect> all = [] {
        std::vector<Dialect> list;
        for (const DialectText& text : DIALECT_TEXTS) list.push_back(made(text));
        return list;
    }();
    return all;
}

inline usize dialect_number(u8 choice) { return (choice & 0x7F) % std::size(DIALECT_TEXTS); }

// One of the dialects; a plain one may also be read by its automaton.
inline Dialect dialect_of(u8 choice) {
    Dialect dialect = dialects()[dialect_number(choice)];
    if (choice & 0x80) dialect.plain = false;
    return dialect;
}

}  // namespace fuzz
