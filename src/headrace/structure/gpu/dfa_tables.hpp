// An automaton of at most 8, 16 or 64 states as the search on a GPU reads it (summarize_dfa.cu): for each byte the step
// of every state at once. structure/gpu/dialect_tables.py makes it of an Automaton.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// A step's byte: the next state in bits 0 to 3, and what the byte means.
enum Step : u32 {
    STEP_FIELD = 16,   // a separator ends here
    STEP_RECORD = 32,  // a record ends here that is neither a comment nor blank
    STEP_START = 64,   // the first byte of a record, a comment or what turns out to be blank included
    STEP_RARE = 128    // Emit has more to say: a stray, a comment's end, a blank line
};

// The same as the conversion reads it (columns/convert/gpu/general/tile_dfa.cuh): a byte ends no field and is dropped,
// so that is one code of two bits.
enum Read : u32 {
    READ_FIELD = 16,   // a separator ends here
    READ_RECORD = 32,  // a record ends here that is neither a comment nor blank
    READ_DROP = 48,    // no part of its field's text
    READ_START = 64,   // STEP_START
    READ_STRAY = 128   // EMIT_STRAY
};

template <u32 count>
struct StepTables {
    u8 steps[257][count];                   // the step from each state; the last is no byte: every state stays
    u8 reads[257][count];                   // for the conversion
    u8 emits[256][count];                   // Emit's bits
    u64 idle, quoted, comment, unfinished;  // Automaton's, a bit for each state
    u64 escaped;                            // behind an escape
    u16 quote;                              // a byte, or 256 for none
    u8 spare;                               // with lenient quotes: stands for a quote that opens no field
    u8 other;                               // and for what `spare` stood for; both mean nothing in the dialect
    u32 reserved;
};
static_assert(sizeof(StepTables<8>) == 6208 && sizeof(StepTables<16>) == 12368);

// More states: steps by groups of bytes, a state in the upper byte and what the byte means in the lower.
template <>
struct StepTables<64> {
    u8 group_of[264];  // of each byte; behind them, of no byte
    u16 steps[33][64];
    u16 reads[33][64];
    u8 emits[33][64];
    u64 idle, quoted, comment, unfinished;
    u64 escaped;
    u16 quote;
    u8 spare;
    u8 other;
    u32 reserved;
};
static_assert(sizeof(StepTables<64>) == 10872);

// Maps of sixteen states to states, four bits each; joining them is one after the other. It does not commute.
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
