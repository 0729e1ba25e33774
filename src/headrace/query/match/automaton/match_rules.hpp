// Defines the two automata of a search (automaton/tables.py) and one step of each, for both devices. The text is read
// backward first, which gives a right state for each position, and then forward.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

enum MatchVerdict : u8 { MATCH_FAILS = 0, MATCH_GOES_ON = 1, MATCH_ENDS = 2 };

// States are bytes. The first `idles` ones are outside a match, and each search begins in state `idles - 1`. Right
// state 0 is that of the end of the text.
struct MatchTables {
    const u8* class_of;    // by byte
    const u8* forward;     // next state by class and state
    const u8* verdicts;    // by right state and state
    const u8* backward;    // right state before a byte by its class and the right state after it
    const u8* idle_after;  // idle state after a byte, by its class
    u32 states;
    u32 rights;
    u32 idles;
};

HR_FN u32 right_before(const MatchTables& tables, u8 byte, u32 right) {
    return tables.backward[tables.class_of[byte] * tables.rights + right];
}

// The state after a byte in the lowest 8 bits, and what happens at the byte.
enum MatchStep : u32 {
    STEP_STATE = 0xFF,
    STEP_BEGINS = 0x100,  // a match has this byte as its first one
    STEP_ENDS = 0x1000    // a match has this byte as its last one
};

// Read a byte of a class after `state`. `right`: right state after the byte.
HR_FN u32 match_step(const MatchTables& tables, u32 group, u32 right, u32 state) {
    const u32 target = tables.forward[group * tables.states + state];
    const u32 verdict = tables.verdicts[right * tables.states + target];
    const bool is_idle = state < tables.idles;
    u32 step = verdict == MATCH_GOES_ON ? target : tables.idle_after[group];
    if (is_idle && verdict != MATCH_FAILS) step |= STEP_BEGINS;
    if (verdict == MATCH_ENDS || (verdict == MATCH_FAILS && !is_idle)) step |= STEP_ENDS;
    return step;
}

HR_END_NAMESPACE
