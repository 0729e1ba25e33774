// Finds record and field ends in a tile. Compiled once for each instruction set.
//
// `summarize` computes a tile's state map without knowing the state before the tile; the maps are composed in tile
// order; `index` then reads the tile again from its known state (ParPaRaw, sections 3.1 and 3.2).
//
// Plain dialects: 64 bytes become masks of separators, line ends and quotes. A byte is inside quotes if the number of
// quotes up to it is odd, except for quotes that are text. (Langdale and Lemire 2019, "Parsing gigabytes of JSON per
// second".) Structure then takes a few operations on 64-bit words (plain_masks.hpp). Other dialects: where there are no
// quotes, masks serve, too (masked_run.hpp). Elsewhere, vector compares find the special bytes, and the automaton steps
// from one to the next. A run of ordinary bytes is a single step, because a second ordinary byte never changes the
// state (a test proves it for all dialects).
//
// Cost: each byte is read once by summarize and once by index; index writes 4 bytes a field and 8 a record.
#include "structure/cpu/find.hpp"

#include "core/cpu/simd.hpp"
#include "structure/cpu/all_states.hpp"
#include "structure/cpu/masked_run.hpp"
#include "structure/cpu/plain_masks.hpp"
#include "structure/cpu/plain_summary.hpp"

HR_BEGIN_NAMESPACE
namespace {

void summarize_any(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8* to) {
    LiveStates<false> live(dialect.automaton.states);
    AllStatesRun run(dialect, text, look, live);
    if (dialect.masks_between_quotes) run_between_quotes(dialect, text, n, run);
    run.finish(n);
    for (u32 s = 0; s < dialect.automaton.states; ++s) to[s] = live.state[live.slot_of[s]];
}

// Line ends in the first n of `size` bytes: LF, and CR without a LF after it, in quotes or not.
u64 count_lines(const u8* text, usize n, usize size) {
    u64 lines = 0;
    for (usize pos = 0; pos < n; pos += BLOCK) {
        const Block block(text + pos);
        const u64 owned = low_bits(n - pos), feeds = block.equals('\n') & low_bits(size - pos);
        const u64 feed_after = size - pos > BLOCK && text[pos + BLOCK] == '\n' ? u64{1} << 63 : 0;
        const u64 returns = block.equals('\r') & ~(feeds >> 1 | feed_after);
        lines += static_cast<u64>(count_ones((feeds | returns) & owned));
    }
    return lines;
}

void count(const Dialect& dialect, const u8* text, usize n, usize size, const QuoteLook& look, StateCounts& to) {
    LiveStates<true> live(dialect.automaton.states);
    AllStatesRun run(dialect, text, look, live);
    run.finish(n);
    for (u32 s = 0; s < dialect.automaton.states; ++s) {
        const u8 slot = live.slot_of[s];
        to.state[s] = live.state[slot];
        to.records[s] = live.ended[slot] + live.offset[s];
    }
    to.lines = count_lines(text, n, size);
}

// Append what a byte (or the first of a run of ordinary bytes) means to the index.
HR_FN void record_emission(u8 emit, usize at, usize limit, TileIndex& index) {
    if ((emit & EMIT_OPEN) && at < limit) index.record_starts[index.start_count++] = static_cast<u32>(at);
    if (emit & (EMIT_FIELD | EMIT_RECORD)) {
        if (emit & EMIT_RECORD) {
            const u32 marks = (emit & EMIT_COMMENT ? COMMENT_RECORD : 0) | (emit & EMIT_BLANK ? BLANK_RECORD : 0);
            index.record_last[index.record_count++] = static_cast<u32>(index.end_count) | marks;
        }
        index.ends[index.end_count++] = static_cast<u32>(at);
    } else if ((emit & EMIT_BLANK) && at < limit) {
        ++index.blank_lines;
    }
    if (emit & EMIT_STRAY) index.strays[index.stray_count++] = static_cast<u32>(at);
}

void index_any(const Dialect& dialect, const u8* text, usize from, usize to, usize limit, TileIndex& index) {
    const Automaton& a = dialect.automaton;
    const u32 other = a.groups - 1;
    u8 state = index.state;
    usize done = from;
    u64 all_quotes = 0;
    HighBytes high;
    const auto step_over_others = [&](usize at) {
        if (at == done) return;
        record_emission(a.emit[other][state], done, limit, index);
        state = a.next[other][state];
        done = at;
    };
    MaskedRun run(dialect);
    bool is_masked = false;  // the blocks up to here are read by masks
    for (usize pos = from; pos < to; pos += BLOCK) {
        const Block block(text + pos);
        const u64 valid = low_bits(to - pos);
        high.add(block);
        if (dialect.quote >= 0) all_quotes |= block.equals(static_cast<u8>(dialect.quote)) & valid;
        if (dialect.masks_between_quotes && (quoting_bytes(dialect, block) & valid) == 0) {
            if (!is_masked) {
                step_over_others(pos);
                is_masked = run.can_begin(pos, state);
                if (is_masked) run.begin(pos, state);
            }
            if (is_masked && run.add(text, pos, valid, limit, index)) continue;
        }
        if (is_masked) {
            state = run.state_at(text, pos);
            done = pos;
            is_masked = false;
        }
        for (u64 special = special_bytes(dialect, block) & valid; special != 0; special &= special - 1) {
            const usize at = pos + static_cast<usize>(trailing_zeros(special));
            step_over_others(at);
            const u32 group = group_at(dialect, text, at, &state, 1, index.look);
            record_emission(a.emit[group][state], at, limit, index);
            state = a.next[group][state];
            done = at + 1;
        }
    }
    if (is_masked) {
        state = run.state_at(text, to);
    } else {
        step_over_others(to);
    }
    index.state = state;
    index.has_high_bytes |= high.any();
    index.has_quotes |= all_quotes != 0;
    index.has_escapes |= dialect.escape >= 0;
}

Summary summarize(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8* to) {
    if (n != 0 && dialect.plain && !dialect.lenient) return summarize_plain(dialect, text, n, to);
    bool quotes = true;
    if (n != 0 && dialect.plain && summarize_lenient(dialect, text, n, look, to, quotes)) return {quotes, 0};
    summarize_any(dialect, text, n, look, to);
    return {true, 0};
}

// Return whether quotes affect the range: it has some, begins inside quotes, or begins right after a closing quote.
bool may_meet_quotes(const Dialect& dialect, const TileIndex& index) {
    if (dialect.quote < 0) return false;
    const bool near = dialect.automaton.is_quoted(index.state) || index.state == PlainStates(dialect).quote_end;
    return near || !index.free_of_quotes;
}

template <class Escaping>
void index_by_masks(const Dialect& dialect, const u8* text, usize from, usize to, usize limit, TileIndex& index) {
    if (may_meet_quotes(dialect, index)) {
        index_plain<Quotes::bytes, Escaping>(dialect, text, from, to, limit, index);
    } else {
        index_plain<Quotes::none, Escaping>(dialect, text, from, to, limit, index);
    }
}

void index(const Dialect& dialect, const u8* text, usize from, usize to, usize limit, TileIndex& index) {
    if (!dialect.plain) {
        index_any(dialect, text, from, to, limit, index);
    } else if (index.marks != nullptr) {
        index_plain<Quotes::marked, NoEscapes>(dialect, text, from, to, limit, index);
    } else if (dialect.escape < 0) {
        index_by_masks<NoEscapes>(dialect, text, from, to, limit, index);
    } else {
        index_by_masks<Escapes>(dialect, text, from, to, limit, index);
    }
}

}  // namespace

const FindKernels& find_kernels() {
    static constexpr FindKernels kernels = {summarize, settle_plain, index, count};
    return kernels;
}

HR_END_NAMESPACE
