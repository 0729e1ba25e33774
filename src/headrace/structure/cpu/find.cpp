// Finds record and field ends in a tile. Compiled once for each instruction set.
//
// `summarize` computes a tile's state map without knowing the state before the tile; the maps are composed in tile
// order; `index` then reads the tile again from its known state (ParPaRaw, sections 3.1 and 3.2).
//
// Plain dialects: 64 bytes become masks of separators, line ends and quotes. A byte is inside quotes if the number of
// quotes up to it is odd, except for quotes that are text. (Langdale and Lemire 2019, "Parsing gigabytes of JSON per
// second".) Structure then takes a few operations on 64-bit words (plain_masks.hpp). Other dialects: vector compares
// find the special bytes, and the automaton steps from one to the next. A run of ordinary bytes is a single step,
// because a second ordinary byte never changes the state (a test proves it for all dialects).
//
// Cost: each byte is read once by summarize and once by index; index writes 4 bytes a field and 8 a record.
#include "structure/cpu/find.hpp"

#include "core/cpu/simd.hpp"
#include "structure/cpu/plain_masks.hpp"
#include "structure/cpu/plain_summary.hpp"

HR_BEGIN_NAMESPACE
namespace {

HR_FN u64 special_bytes(const Dialect& dialect, const Block& block) {
    u64 mask = 0;
    for (u32 i = 0; i < dialect.special_count; ++i) mask |= block.equals(dialect.special[i]);
    return mask;
}

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
    if (!dialect.lenient || text[at] != dialect.quote) return group;
    bool same = true;
    for (u32 i = 0; i < count; ++i) same &= a.next[group][states[i]] == a.next[dialect.unreal_group][states[i]];
    return same || look.opens(look.context, at) ? group : dialect.unreal_group;
}

// Runs the automaton over n bytes from every start state. A run of ordinary bytes is one step.
template <class Live>
void run_all_states(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, Live& live) {
    const Automaton& a = dialect.automaton;
    const u32 other = a.groups - 1;
    usize done = 0;  // bytes that the states have seen
    for (usize pos = 0; pos < n; pos += BLOCK) {
        u64 special = special_bytes(dialect, Block(text + pos)) & low_bits(n - pos);
        for (; special != 0; special &= special - 1) {
            const usize at = pos + static_cast<usize>(trailing_zeros(special));
            if (at > done) live.step(a, other);
            live.step(a, group_at(dialect, text, at, live.state, live.count, look));
            done = at + 1;
        }
        if (live.count > 1) live.merge(a.states);
    }
    if (n > done) live.step(a, other);
}

void summarize_any(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8* to) {
    LiveStates<false> live(dialect.automaton.states);
    run_all_states(dialect, text, n, look, live);
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
    run_all_states(dialect, text, n, look, live);
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
