// Runs a dialect's automaton over a text from every start state.
#pragma once

#include "core/cpu/simd.hpp"
#include "structure/cpu/find.hpp"
#include "structure/cpu/special_bytes.hpp"

HR_BEGIN_NAMESPACE

// One automaton run per start state, where runs that have reached the same state share a slot. After a few bytes two
// slots are left for most dialects: inside quotes and outside.
// Example, CSV, text `a"b,`: the start states START, UNQUOTED and QUOTED are read as
// | START     a UNQUOTED   " UNQUOTED   b UNQUOTED   , FIELD_START
// | UNQUOTED  a UNQUOTED   " UNQUOTED   b UNQUOTED   , FIELD_START     shares START's slot from the first byte on
// | QUOTED    a QUOTED     " QUOTE_END  b UNQUOTED   , FIELD_START     shares it from the third byte on
// With COUNTS, each slot also counts the data records that end. A start state that moves to another slot keeps its own
// count through `offset`. That is the difference of both slots' counts (modulo 2^64) when it moved.
template <bool COUNTS>
struct LiveStates {
    u8 state[MAX_STATES];                      // of each slot
    u8 slot_of[MAX_STATES];                    // of each start state
    u32 count;                                 // slots
    u64 ended[COUNTS ? MAX_STATES : 1] = {};   // of each slot: records that ended
    u64 offset[COUNTS ? MAX_STATES : 1] = {};  // of each start state, added to its slot's `ended`

    explicit LiveStates(u32 states) : count(states) {
        for (u32 s = 0; s < states; ++s) state[s] = slot_of[s] = static_cast<u8>(s);
    }
    void step(const Automaton& a, u32 group) {
        if constexpr (COUNTS) {
            constexpr u8 KINDS = EMIT_RECORD | EMIT_BLANK | EMIT_COMMENT;
            for (u32 i = 0; i < count; ++i) ended[i] += (a.emit[group][state[i]] & KINDS) == EMIT_RECORD ? 1 : 0;
        }
        for (u32 i = 0; i < count; ++i) state[i] = a.next[group][state[i]];
    }
    // Merges slots in the same state.
    void merge(u32 states) {
        u8 slot_of_state[MAX_STATES];
        u64 seen = 0;
        u8 renamed[MAX_STATES];
        u64 moved[COUNTS ? MAX_STATES : 1];  // of each old slot: its count less that of the slot it is merged into
        u32 distinct = 0;
        for (u32 i = 0; i < count; ++i) {
            const u8 s = state[i];
            if (!(seen >> s & 1)) {
                seen |= u64{1} << s;
                slot_of_state[s] = static_cast<u8>(distinct);
                if constexpr (COUNTS) ended[distinct] = ended[i];
                state[distinct++] = s;
            }
            renamed[i] = slot_of_state[s];
            if constexpr (COUNTS) moved[i] = ended[i] - ended[renamed[i]];
        }
        if (distinct == count) return;
        for (u32 s = 0; COUNTS && s < states; ++s) offset[s] += moved[slot_of[s]];
        for (u32 s = 0; s < states; ++s) slot_of[s] = renamed[slot_of[s]];
        count = distinct;
    }
};

// Return the symbol group of the byte at `at`. That of a lenient quote depends on later quotes, which are searched only
// if one of `states` distinguishes the two groups.
HR_FN u32 group_at(const Dialect& dialect, const u8* text, usize at, const u8* states, u32 count,
                   const QuoteLook& look) {
    const Automaton& a = dialect.automaton;
    const u32 group = a.class_of[text[at]];
    if (!dialect.looks_ahead() || text[at] != dialect.quote) return group;
    bool same = true;
    for (u32 i = 0; i < count; ++i) same &= a.next[group][states[i]] == a.next[dialect.unreal_group][states[i]];
    return same || look.opens(look.context, at) ? group : dialect.unreal_group;
}

// Runs the automaton over a text from every start state. A run of ordinary bytes is one step.
template <class Live>
class AllStatesRun {
public:
    AllStatesRun(const Dialect& dialect, const u8* text, const QuoteLook& look, Live& live)
        : dialect_(dialect), text_(text), look_(look), live_(live) {}

    // Step over every byte from the last one read up to `to`.
    void read(usize to) {
        const Automaton& a = dialect_.automaton;
        const u32 other = a.groups - 1;
        for (; at_ < to; at_ += BLOCK) {
            u64 special = special_bytes(dialect_, Block(text_ + at_)) & low_bits(to - at_);
            for (; special != 0; special &= special - 1) {
                const usize at = at_ + static_cast<usize>(trailing_zeros(special));
                if (at > done_) live_.step(a, other);
                live_.step(a, group_at(dialect_, text_, at, live_.state, live_.count, look_));
                done_ = at + 1;
            }
            if (live_.count > 1) live_.merge(a.states);
        }
        at_ = to;
    }

    // The same, and end a run of ordinary bytes at `n`.
    void finish(usize n) {
        read(n);
        if (n > done_) live_.step(dialect_.automaton, dialect_.automaton.groups - 1);
        done_ = n;
    }

private:
    const Dialect& dialect_;
    const u8* const text_;
    const QuoteLook& look_;
    Live& live_;
    usize at_ = 0;    // special bytes before have been read
    usize done_ = 0;  // bytes that the states have seen
};

HR_END_NAMESPACE
