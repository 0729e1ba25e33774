// Computes state maps of tiles in dialects that are not plain.
#pragma once

#include "structure/cpu/all_states.hpp"
#include "structure/cpu/masked_run.hpp"

HR_BEGIN_NAMESPACE

// Takes what a run finds if only the state after it matters.
struct NoSink {
    void add(const PlainMasks&, usize) {}
    void add(u8, usize) {}
};

// Return the state after n bytes from one state.
HR_FN u8 run_any(const Dialect& dialect, const u8* text, usize n, u8 state) {
    KnownStateRun<NoSink> run(dialect, text, QuoteLook{}, {});
    run.begin(0, state);
    for (usize pos = 0; pos < n; pos += BLOCK) {
        const u64 valid = low_bits(n - pos);
        if (run.read_by_masks(pos, valid) != BlockReading::done) run.read_by_automaton(pos, valid);
    }
    return run.finish(n);
}

// Step from all states until two are left, usually inside quotes and outside. Then read from both by masks. If a quote
// is malformed from one side only, the tile probably begins on the other, and the map is left open for the one.
HR_FN Summary summarize_any(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8* to) {
    const u32 states = dialect.automaton.states;
    LiveStates<false> live(states);
    AllStatesRun all(dialect, text, look, live);
    usize pos = 0;
    while (pos < n && (live.count > 2 || !dialect.allows_masks)) {
        pos = n - pos < BLOCK ? n : pos + BLOCK;
        all.read(pos);
    }
    all.finish(pos);
    using Side = KnownStateRun<NoSink>;
    Side sides[2] = {Side(dialect, text, look, {}), Side(dialect, text, look, {})};
    bool is_open[2] = {true, live.count == 2};
    if (pos < n) {
        for (u32 i = 0; i < live.count; ++i) sides[i].begin(pos, live.state[i]);
    }
    for (; pos < n; pos += BLOCK) {
        const u64 valid = low_bits(n - pos);
        BlockReading reading[2] = {BlockReading::declined, BlockReading::declined};
        for (u32 i = 0; i < 2; ++i) {
            if (is_open[i]) reading[i] = sides[i].read_by_masks(pos, valid);
        }
        for (u32 i = 0; i < 2; ++i) {
            if (!is_open[i] || reading[i] == BlockReading::done) continue;
            is_open[i] = reading[i] == BlockReading::declined || reading[1 - i] != BlockReading::done;
            if (is_open[i]) sides[i].read_by_automaton(pos, valid);
        }
        if (pos + BLOCK < n) continue;
        for (u32 i = 0; i < live.count; ++i) {
            if (is_open[i]) live.state[i] = sides[i].finish(n);
        }
    }
    Summary found{true, 0};
    for (u32 s = 0; s < states; ++s) {
        const u8 slot = live.slot_of[s];
        to[s] = live.state[slot];
        if (slot == 1 && live.count == 2 && !is_open[1]) found.unresolved |= u64{1} << s;
        if (slot == 0 && !is_open[0]) found.unresolved |= u64{1} << s;
    }
    return found;
}

HR_END_NAMESPACE
