// Declares a dialect's automaton as tables of states x symbol groups, for the native code. dialect.py builds the tables
// and names the states. Here states are numbers, and state 0 is the start (no record open). Source: ParPaRaw, section
// 3.1 (states, symbol groups). The emit table beside the transitions is an addition.
#pragma once

#include "structure/dialect_flags.hpp"
#include "structure/emit.hpp"

namespace headrace {

constexpr usize MAX_STATES = 64;
constexpr usize MAX_GROUPS = 32;

struct Automaton {
    u8 next[MAX_GROUPS][MAX_STATES];
    u8 emit[MAX_GROUPS][MAX_STATES];
    u8 class_of[256];  // symbol group of each byte
    u32 states;
    u32 groups;      // the last group is "any other symbol"
    u64 idle;        // bit s: no record is open in state s
    u64 quoted;      // bit s: state s is inside quotes
    u64 unfinished;  // bit s: a delimiter has begun after closing quotes; the input may not end here
    u64 comment;     // bit s: state s is inside a comment line

    HR_MEMBER bool is_idle(u8 state) const { return idle >> state & 1; }
    HR_MEMBER bool is_quoted(u8 state) const { return quoted >> state & 1; }
};

// A dialect: its automaton, and what the conversion needs to turn a field's bytes into its text.
struct Dialect : DialectFlags {
    Automaton automaton;
    u32 separator_length;
    u32 line_end_length;
    i32 quote;         // a byte, or -1 for none
    i32 escape;        // a byte, or -1 for none
    i32 comment;       // first byte of the prefix of comment lines, or -1 for none
    u32 unreal_group;  // with lenient quotes: symbol group of a quote that opens no field
    // Masks can find the structure: separator and line end are single bytes, and there are no comments. A dialect with
    // lenient quotes has no escapes either.
    bool plain;
    bool allows_masks;        // masks can find the structure of most blocks (cpu/masked_run.hpp)
    bool universal_line_end;  // LF, CR LF and CR all end a line
    u8 separator;             // if plain
    u8 line_end;              // if plain and not universal
    u8 line_end_text[8];      // if not universal: line_end_length bytes
    u8 separator_text[8];
    // The bytes that are not "any other symbol".
    u32 special_count;
    u8 special[MAX_GROUPS];
};

}  // namespace headrace
