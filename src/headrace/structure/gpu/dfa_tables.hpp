// Tables of an automaton of at most 8, 16 or 64 states for the kernels (summarize_dfa.cu). The steps of a symbol group
// from all states are adjacent. structure/gpu/dialect_tables.py builds them from an Automaton.
#pragma once

#include "core/cpu/portable.hpp"
#include "structure/dialect_flags.hpp"

HR_BEGIN_NAMESPACE

// A step: the next state in bits 0 to 3, and what the byte means in the bits above. A byte that is dropped ends no
// field, so field, record and drop share two bits.
enum DfaStep : u32 {
    STEP_FIELD = 16,   // a separator ends here
    STEP_RECORD = 32,  // a record ends here that is neither a comment nor blank
    STEP_DROP = 48,    // not part of its field's text
    STEP_START = 64,   // the first byte of a record, including comments and lines that turn out to be blank
    STEP_RARE = 128    // see Emit: a malformed quote, a comment's end, or a blank line
};

// What 32 bytes mean, a bit each, as the search stores it for the conversion. Field ends have the first bit, record
// ends the second, and dropped bytes both.
struct alignas(16) DfaRoles {
    u32 fields, records;
    u32 starts;     // first bytes of records
    u32 malformed;  // EMIT_STRAY

    // Field ends, including those at a record's end; record ends; bytes that are not part of their field's text. A
    // lenient quote that only seems to close its field is not dropped.
    HR_MEMBER u32 ends() const { return fields ^ records; }
    HR_MEMBER u32 record_ends() const { return records & ~fields; }
    HR_MEMBER u32 dropped() const { return fields & records; }
};

// Whether spaces before a delimiter are dropped, and the delimiters of dialects that drop them.
struct DfaPadding {
    u8 strips, separator, line_end, universal;
};

// Bytes of one symbol group have the same steps. Groups are few, so lanes that look up different bytes rarely read the
// same bank of shared memory.
template <u32 count>
struct DfaTables {
    u64 idle, quoted, comment, unfinished;  // Automaton's, a bit for each state
    u64 escaped;                            // bit s: an escape precedes
    u16 quote;                              // a byte, or 256 for none
    u8 spare;                               // with lenient quotes: represents a quote that opens no field
    u8 other;                               // represents bytes equal to `spare`; both are ordinary bytes of the dialect
    DfaPadding padding;
    u8 group_of[272];  // of each byte; item 256 is "no byte", which changes nothing
    Either<(count > 16), u16, u8> steps[33]
                                       [count];  // of each group, from each state; 16 bits: the state in the upper ones
    u8 emits[33][count];                         // Emit's bits
};
static_assert(sizeof(DfaTables<8>) == 848 && sizeof(DfaTables<16>) == 1376 && sizeof(DfaTables<64>) == 6656);

// Results of the DFA search (structure/gpu/summarize_dfa.cu), and what only a DFA needs to know of the dialect.
struct DfaTask {
    const void* tables;     // DfaTables<count>
    const DfaRoles* roles;  // of each 32 bytes, from the 16-byte boundary at or before the text on
    u8 separator_more;      // bytes of a separator before its last one
    u8 line_end_more;       // bytes of a line end before its last one
    u8 escape;              // if there is one
    bool has_escape;
    bool has_high_bytes;  // a delimiter has bytes outside ASCII: it may be a part of a character
    DialectFlags dialect;
};
static_assert(sizeof(DfaTask) == 32);

// Composition of state maps of up to 16 states, four bits a state: first `a`, then `b`. It does not commute. For
// example, with a = {1, 1, ...} and b = {1, 0, ...}: join(a, b) maps state 0 to b[a[0]] = b[1] = 0, and join(b, a) maps
// it to 1.
struct ComposeStates {
    using Item = u64;
    static constexpr bool commutes = false;
    HR_FN u64 identity() { return static_cast<u64>(0xFEDCBA9876543210); }
    HR_FN u64 join(u64 a, u64 b) {
        u64 joined = 0;
        for (u32 shift = 0; shift < 64; shift += 4) joined |= (b >> (a >> shift & 15) * 4 & 15) << shift;
        return joined;
    }
};

HR_END_NAMESPACE
