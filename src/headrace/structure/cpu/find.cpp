// Finding record and field ends, compiled once for each instruction set.
//
// Plain dialects: 64 bytes become masks (separators, line ends, quotes), a byte is inside quotes where the number of
// quotes up to it is odd (less those that are text), and every question about structure is a few operations on words.
// Any other dialect: vectors find its special bytes, and the automaton steps from one to the next; a run of ordinary
// bytes is one step, because taking it twice changes nothing (dialect.py proves that for each automaton). Cost: each
// byte is read once by summarise and once by index, 4 bytes are written for each field. Source: ParPaRaw, sections 3.1
// and 3.2; quote parity as in Langdale and Lemire, "Parsing gigabytes of JSON per second".
#include "structure/cpu/find.hpp"

#include "core/cpu/simd.hpp"
#include "structure/cpu/plain_masks.hpp"

HR_BEGIN_NAMESPACE
namespace {

HR_FN u64 special_bytes(const Dialect& dialect, const Block& block) {
    u64 mask = 0;
    for (u32 i = 0; i < dialect.special_count; ++i) mask |= block.equals(dialect.special[i]);
    return mask;
}

// The states that are still told apart, and which of them each starting state is in.
struct LiveStates {
    u8 state[MAX_STATES];
    u8 slot_of[MAX_STATES];
    u32 count;

    explicit LiveStates(u32 states) : count(states) {
        for (u32 s = 0; s < states; ++s) state[s] = slot_of[s] = static_cast<u8>(s);
    }
    void step(const u8* next) {
        for (u32 i = 0; i < count; ++i) state[i] = next[state[i]];
    }
    // Starting states that met stay together, so they share a slot: after a few bytes two slots are left, inside quotes
    // and outside.
    void merge(u32 states) {
        u8 slot_of_state[MAX_STATES];
        u64 seen = 0;
        u8 renamed[MAX_STATES];
        u32 kept = 0;
        for (u32 i = 0; i < count; ++i) {
            const u8 s = state[i];
            if (!(seen >> s & 1)) {
                seen |= u64{1} << s;
                slot_of_state[s] = static_cast<u8>(kept);
                state[kept++] = s;
            }
            renamed[i] = slot_of_state[s];
        }
        for (u32 s = 0; s < states; ++s) slot_of[s] = renamed[slot_of[s]];
        count = kept;
    }
};

// The symbol group of the byte at `at`, read in these states: a lenient quote's depends on the quotes behind it, which
// are looked at only if some state asks.
HR_FN u32 group_at(const Dialect& dialect, const u8* text, usize at, const u8* states, u32 count,
                   const QuoteLook& look) {
    const Automaton& a = dialect.automaton;
    const u32 group = a.class_of[text[at]];
    if (!dialect.lenient || text[at] != dialect.quote) return group;
    bool same = true;
    for (u32 i = 0; i < count; ++i) same &= a.next[group][states[i]] == a.next[dialect.unreal_group][states[i]];
    return same || look.opens(look.context, at) ? group : dialect.unreal_group;
}

void summarise_any(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8* to) {
    const Automaton& a = dialect.automaton;
    const u8* other = a.next[a.groups - 1];
    LiveStates live(a.states);
    usize done = 0;  // bytes that the states have seen
    for (usize pos = 0; pos < n; pos += BLOCK) {
        u64 special = special_bytes(dialect, Block(text + pos)) & low_bits(n - pos);
        for (; special != 0; special &= special - 1) {
            const usize at = pos + static_cast<usize>(trailing_zeros(special));
            if (at > done) live.step(other);
            live.step(a.next[group_at(dialect, text, at, live.state, live.count, look)]);
            done = at + 1;
        }
        if (live.count > 1) live.merge(a.states);
    }
    if (n > done) live.step(other);
    for (u32 s = 0; s < a.states; ++s) to[s] = live.state[live.slot_of[s]];
}

// One byte's emission, or that of the first of a run of ordinary bytes.
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
    for (usize pos = from; pos < to; pos += BLOCK) {
        const Block block(text + pos);
        const u64 valid = low_bits(to - pos);
        high.add(block);
        if (dialect.quote >= 0) all_quotes |= block.equals(static_cast<u8>(dialect.quote)) & valid;
        for (u64 special = special_bytes(dialect, block) & valid; special != 0; special &= special - 1) {
            const usize at = pos + static_cast<usize>(trailing_zeros(special));
            if (at > done) {
                record_emission(a.emit[other][state], done, limit, index);
                state = a.next[other][state];
            }
            const u32 group = group_at(dialect, text, at, &state, 1, index.look);
            record_emission(a.emit[group][state], at, limit, index);
            state = a.next[group][state];
            done = at + 1;
        }
    }
    if (to > done) {
        record_emission(a.emit[other][state], done, limit, index);
        state = a.next[other][state];
    }
    index.state = state;
    index.has_high_bytes |= high.any();
    index.has_quotes |= all_quotes != 0;
}

Summary summarise(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8* to) {
    if (n != 0 && dialect.plain && !dialect.lenient) return summarise_plain(dialect, text, n, to);
    bool quotes = true;
    if (n != 0 && dialect.plain && summarise_lenient(dialect, text, n, look, to, quotes)) return {quotes, 0};
    summarise_any(dialect, text, n, look, to);
    return {true, 0};
}

// Without quotes in the range, before it, or just closed, nothing in it can be inside quotes or malformed.
bool may_meet_quotes(const Dialect& dialect, const TileIndex& index) {
    if (dialect.quote < 0) return false;
    const bool near = dialect.automaton.is_quoted(index.state) || index.state == PlainStates(dialect).quote_end;
    return near || !index.free_of_quotes;
}

void index(const Dialect& dialect, const u8* text, usize from, usize to, usize limit, TileIndex& index) {
    if (!dialect.plain) {
        index_any(dialect, text, from, to, limit, index);
    } else if (index.marks != nullptr) {
        index_plain<Quotes::marked>(dialect, text, from, to, limit, index);
    } else if (may_meet_quotes(dialect, index)) {
        index_plain<Quotes::bytes>(dialect, text, from, to, limit, index);
    } else {
        index_plain<Quotes::none>(dialect, text, from, to, limit, index);
    }
}

}  // namespace

const FindKernels& find_kernels() {
    static constexpr FindKernels kernels = {summarise, run_plain, index};
    return kernels;
}

HR_END_NAMESPACE
