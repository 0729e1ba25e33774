// Finding record and field ends, compiled once for each instruction set.
//
// Plain dialects: 64 bytes become masks (separators, line ends, quotes), a byte is inside quotes where the number of
// quotes up to it is odd, and every question about structure is a few operations on words. Any other dialect: vectors
// find its special bytes, and the automaton steps from one to the next; a run of ordinary bytes is one step, because
// taking it twice changes nothing (dialect.py proves that for each automaton).
// Cost: each byte is read once by summarise and once by index, 4 bytes are written for each field.
// Source: ParPaRaw, sections 3.1 and 3.2; quote parity as in Langdale and Lemire, "Parsing gigabytes of JSON per
// second".
#include "structure/find.hpp"

#include "core/simd.hpp"

HR_BEGIN_NAMESPACE
namespace {

HR_FN u64 low_bits(usize n) { return n >= BLOCK ? ~u64{0} : (u64{1} << n) - 1; }

// ---- plain dialects ----

// The states of a plain dialect's automaton, found by asking it.
struct PlainStates {
    u8 start, unquoted, field_start, quoted, quote_end, carriage_return;

    explicit PlainStates(const Dialect& dialect) {
        const Automaton& a = dialect.automaton;
        const auto after = [&](u8 state, u8 byte) { return a.next[a.class_of[byte]][state]; };
        start = 0;
        unquoted = a.next[a.groups - 1][start];
        field_start = after(start, dialect.separator);
        quoted = dialect.quote < 0 ? unquoted : after(start, static_cast<u8>(dialect.quote));
        quote_end = dialect.quote < 0 ? unquoted : after(quoted, static_cast<u8>(dialect.quote));
        carriage_return = dialect.universal_line_end ? after(unquoted, '\r') : start;
    }
};

// The last byte and the parity of quotes before the end settle the state.
u8 plain_state(const Dialect& dialect, const PlainStates& states, u8 last, bool inside) {
    if (dialect.quote >= 0 && last == dialect.quote) return inside ? states.quoted : states.quote_end;
    if (inside) return states.quoted;
    if (last == dialect.separator) return states.field_start;
    if (!dialect.universal_line_end) return last == dialect.line_end ? states.start : states.unquoted;
    if (last == '\r') return states.carriage_return;
    return last == '\n' ? states.start : states.unquoted;
}

bool summarise_plain(const Dialect& dialect, const u8* text, usize n, u8* to) {
    int quotes = 0;
    if (dialect.quote >= 0) {
        const u8 quote = static_cast<u8>(dialect.quote);
        for (usize pos = 0; pos < n; pos += BLOCK) {
            quotes += count_ones(Block(text + pos).equals(quote) & low_bits(n - pos));
        }
    }
    const PlainStates states(dialect);
    for (u8 s = 0; s < dialect.automaton.states; ++s) {
        const bool inside = (dialect.automaton.is_quoted(s) ? 1 : 0) ^ (quotes & 1);
        to[s] = plain_state(dialect, states, text[n - 1], inside);
    }
    return quotes != 0;
}

// What one block hands to the next: bit 0 of each word speaks of the byte just before the block.
struct PlainCarry {
    u64 inside = 0;  // all ones if inside quotes
    u64 after_line_end = 0;
    u64 after_return = 0;
    u64 after_separator = 0;
    u64 after_closing = 0;

    PlainCarry(const Dialect& dialect, const PlainStates& states, u8 state) {
        inside = dialect.automaton.is_quoted(state) ? ~u64{0} : 0;
        after_line_end = dialect.automaton.is_idle(state);
        after_return = dialect.universal_line_end && state == states.carriage_return;
        after_separator = state == states.field_start;
        after_closing = dialect.quote >= 0 && state == states.quote_end;
    }
};

struct PlainMasks {
    u64 separators, records, starts, blanks, strays;
};

// Line ends and separators outside quotes, and what they mean. Example, with blank lines left out:
//   text     a , b \r \n \n c
//   E        . . . 1  1  1  .     line-end bytes
//   after    1 . . .  1  1  1     the byte follows a line-end byte (or begins the text)
//   records  . . . 1  .  .  .     E & ~after: only the first byte of a run ends a record
//   starts   1 . . .  .  .  1     after & ~E
//   blanks   . . . .  .  1  .     E & after, but a LF that completes CR LF is none
template <bool HasQuote>
HR_FN PlainMasks find_masks(const Dialect& dialect, const Block& block, u64 valid, PlainCarry& carry, u64& quotes) {
    quotes = HasQuote ? block.equals(static_cast<u8>(dialect.quote)) & valid : 0;
    const u64 inside = HasQuote ? prefix_xor(quotes) ^ carry.inside : 0;
    const u64 outside = valid & ~inside;
    const u64 separators = block.equals(dialect.separator) & outside;
    u64 line_ends, completing;
    if (dialect.universal_line_end) {
        const u64 returns = block.equals('\r') & outside;
        const u64 feeds = block.equals('\n') & outside;
        line_ends = returns | feeds;
        completing = feeds & (returns << 1 | carry.after_return);
        carry.after_return = returns >> 63;
    } else {
        line_ends = block.equals(dialect.line_end) & outside;
        completing = 0;
    }
    const u64 after = line_ends << 1 | carry.after_line_end;
    carry.after_line_end = line_ends >> 63;

    PlainMasks masks;
    masks.separators = separators;
    if (dialect.skip_blank_lines) {
        masks.records = line_ends & ~after;
        masks.starts = after & ~line_ends & valid;
        masks.blanks = line_ends & after & ~completing;
    } else {
        masks.records = line_ends & ~completing;
        masks.starts = after & ~completing & valid;
        masks.blanks = 0;
    }
    masks.strays = 0;
    if (HasQuote) {
        const u64 opening = quotes & inside;
        const u64 closing = quotes & ~inside;
        const u64 after_closing = closing << 1 | carry.after_closing;
        const u64 field_start = after | separators << 1 | carry.after_separator;
        const u64 may_open = dialect.double_quote ? field_start | after_closing : field_start;
        const u64 may_follow = separators | line_ends | quotes;
        masks.strays = (opening & ~may_open) | (after_closing & ~may_follow & valid);
        carry.after_closing = closing >> 63;
        carry.inside = static_cast<u64>(static_cast<i64>(inside) >> 63);
        carry.after_separator = separators >> 63;
    }
    return masks;
}

template <bool HasQuote>
void index_plain(const Dialect& dialect, const u8* text, usize from, usize to, usize limit, TileIndex& index) {
    const PlainStates states(dialect);
    PlainCarry carry(dialect, states, index.state);
    u64 all_quotes = 0, all_strays = 0;
    HighBytes high;
    u64 ends = index.end_count, starts = index.start_count, records = index.record_count;
    for (usize pos = from; pos < to; pos += BLOCK) {
        const Block block(text + pos);
        const u64 valid = low_bits(to - pos);
        u64 quotes;
        const PlainMasks masks = find_masks<HasQuote>(dialect, block, valid, carry, quotes);
        all_quotes |= quotes;
        all_strays |= masks.strays;
        high.add(block);
        const u64 owned = pos >= limit ? 0 : low_bits(limit - pos);
        const u32 base = static_cast<u32>(pos);
        const u64 all_ends = masks.separators | masks.records;
        records +=
            flatten_few(extract_bits(masks.records, all_ends), static_cast<u32>(ends), index.record_last + records);
        starts += flatten_few(masks.starts & owned, base, index.record_starts + starts);
        ends += flatten(all_ends, base, index.ends + ends);
        if (masks.blanks) index.blank_lines += static_cast<u64>(count_ones(masks.blanks & owned));
    }
    index.end_count = ends;
    index.start_count = starts;
    index.record_count = records;
    index.has_quotes |= all_quotes != 0;
    index.has_strays |= all_strays != 0;
    index.has_high_bytes |= high.any();
    if (to > from) index.state = plain_state(dialect, states, text[to - 1], carry.inside != 0);
}

// ---- any dialect ----

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

void summarise_any(const Dialect& dialect, const u8* text, usize n, u8* to) {
    const Automaton& a = dialect.automaton;
    const u8* other = a.next[a.groups - 1];
    LiveStates live(a.states);
    usize done = 0;  // bytes that the states have seen
    for (usize pos = 0; pos < n; pos += BLOCK) {
        u64 special = special_bytes(dialect, Block(text + pos)) & low_bits(n - pos);
        for (; special != 0; special &= special - 1) {
            const usize at = pos + static_cast<usize>(trailing_zeros(special));
            if (at > done) live.step(other);
            live.step(a.next[a.class_of[text[at]]]);
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
    index.has_strays |= (emit & EMIT_STRAY) != 0;
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
            const u32 group = a.class_of[text[at]];
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

// ---- the face ----

bool summarise(const Dialect& dialect, const u8* text, usize n, u8* to) {
    if (n != 0 && dialect.plain) return summarise_plain(dialect, text, n, to);
    summarise_any(dialect, text, n, to);
    return true;
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
    } else if (may_meet_quotes(dialect, index)) {
        index_plain<true>(dialect, text, from, to, limit, index);
    } else {
        index_plain<false>(dialect, text, from, to, limit, index);
    }
}

}  // namespace

const FindKernels& find_kernels() {
    static constexpr FindKernels kernels = {summarise, index};
    return kernels;
}

HR_END_NAMESPACE
