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
HR_FN u8 run_any(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8 state) {
    KnownStateRun<NoSink> run(dialect, text, look, {});
    run.begin(0, state);
    for (usize pos = 0; pos < n; pos += BLOCK) {
        const u64 valid = low_bits(n - pos);
        if (run.read_by_masks(pos, valid) != BlockReading::done) run.read_by_automaton(pos, valid);
    }
    return run.finish(n);
}

HR_FN u64 line_ends(const Dialect& dialect, const Block& block) {
    if (!dialect.universal_line_end) return block.equals(dialect.line_end);
    return block.equals('\n') | block.equals('\r');
}

// Reads from two states, usually inside quotes and outside. If a quote is malformed from one side only, the tile
// probably begins on the other, and the one is closed.
class BothSidesRun {
public:
    BothSidesRun(const Dialect& dialect, const u8* text, const QuoteLook& look, const LiveStates<false>& live,
                 usize pos)
        : sides_{{dialect, text, look, {}}, {dialect, text, look, {}}}, is_open_{true, live.count == 2} {
        for (u32 i = 0; i < live.count; ++i) sides_[i].begin(pos, live.state[i]);
    }
    bool is_open(u32 side) const { return is_open_[side]; }

    void read(usize pos, u64 valid) {
        BlockReading reading[2] = {BlockReading::declined, BlockReading::declined};
        for (u32 i = 0; i < 2; ++i) {
            if (is_open_[i]) reading[i] = sides_[i].read_by_masks(pos, valid);
        }
        for (u32 i = 0; i < 2; ++i) {
            if (!is_open_[i] || reading[i] == BlockReading::done) continue;
            is_open_[i] = reading[i] == BlockReading::declined || reading[1 - i] != BlockReading::done;
            if (is_open_[i]) sides_[i].read_by_automaton(pos, valid);
        }
    }
    void skip(usize pos, usize to, usize end) {
        for (u32 i = 0; i < 2; ++i) {
            if (is_open_[i]) sides_[i].skip(pos, to, end);
        }
    }
    u8 finish(u32 side, usize n) { return sides_[side].finish(n); }

private:
    KnownStateRun<NoSink> sides_[2];
    bool is_open_[2];
};

// Step from all states until two are left, then read from both. A block without quotes and escapes that follows such a
// block is skipped: only the bytes after the last line end matter.
HR_FN Summary summarize_any(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8* to) {
    LiveStates<false> live(dialect.automaton.states);
    AllStatesRun all(dialect, text, look, live);
    usize pos = 0;
    while (pos < n && (live.count > 2 || !dialect.allows_masks)) {
        pos = n - pos < BLOCK ? n : pos + BLOCK;
        all.read(pos);
    }
    all.finish(pos);
    Summary found{true, 0};
    if (pos < n) {
        BothSidesRun sides(dialect, text, look, live, pos);
        bool is_quiet = false;
        usize skipped = 0, line_begin = 0;  // blocks from `skipped` on are not read yet, if line_begin is not 0
        for (; pos < n; pos += BLOCK) {
            const Block block(text + pos);
            const u64 valid = low_bits(n - pos);
            const bool was_quiet = is_quiet;
            is_quiet = (quoting_bytes(dialect, block) & valid) == 0;
            const u64 ends = is_quiet && was_quiet ? line_ends(dialect, block) & valid : 0;
            if (ends != 0) {
                if (line_begin == 0) skipped = pos;
                line_begin = pos + BLOCK - static_cast<usize>(leading_zeros(ends));
            } else if (line_begin == 0 || !is_quiet) {
                if (line_begin != 0) sides.skip(skipped, line_begin, pos);
                line_begin = 0;
                sides.read(pos, valid);
            }
        }
        if (line_begin != 0) sides.skip(skipped, line_begin, n);
        for (u32 i = 0; i < live.count; ++i) {
            if (sides.is_open(i)) live.state[i] = sides.finish(i, n);
        }
        for (u32 s = 0; s < dialect.automaton.states; ++s) {
            if (!sides.is_open(live.slot_of[s])) found.unresolved |= u64{1} << s;
        }
    }
    for (u32 s = 0; s < dialect.automaton.states; ++s) to[s] = live.state[live.slot_of[s]];
    return found;
}

HR_END_NAMESPACE
