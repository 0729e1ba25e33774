// Computes state maps of tiles in plain dialects, by the masks of plain_masks.hpp.
#pragma once

#include "structure/cpu/plain_masks.hpp"

HR_BEGIN_NAMESPACE

// Return the bytes after which a quote opens a field, or reopens it (the second of two quotes).
HR_FN ByteSet bytes_before_quotes(const Dialect& dialect) {
    ByteSet bytes;
    bytes.add(dialect.separator);
    bytes.add(dialect.line_end);
    if (dialect.universal_line_end) bytes.add('\r');
    if (dialect.double_quote) bytes.add(static_cast<u8>(dialect.quote));
    return bytes;
}

// Return the position after the text's last quote; 0 if it has none.
HR_FN usize behind_last_quote(const Dialect& dialect, const u8* text, usize n) {
    for (usize pos = (n + BLOCK - 1) / BLOCK * BLOCK; pos != 0; pos -= BLOCK) {
        const usize begin = pos - BLOCK;
        const u64 quotes = Block(text + begin).equals(static_cast<u8>(dialect.quote)) & low_bits(n - begin);
        if (quotes != 0) return begin + BLOCK - static_cast<usize>(leading_zeros(quotes));
    }
    return 0;
}

// Compute the state map of a tile with lenient quotes. The last run of quotes that opens or closes determines the
// state, whatever precedes it; without such runs every state stays inside or outside. Returns false if that does not
// decide (runs at the tile's borders or between delimiters); then the automaton has to run.
HR_FN bool summarize_lenient(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8* to,
                             bool& quotes) {
    constexpr u8 NEUTRAL = 0, OPENS = 1, CLOSES = 2;
    const PlainStates states(dialect);
    const u8 outside = plain_state(dialect, states, text[n - 1], false, Role::usual);
    const Automaton& a = dialect.automaton;
    usize end = behind_last_quote(dialect, text, n);
    quotes = end != 0;
    if (end == n) return false;
    u8 kind = NEUTRAL;
    while (end != 0) {
        usize begin;
        kind = look.run_before(look.context, end, &begin);
        if (kind != NEUTRAL) break;
        end = behind_last_quote(dialect, text, begin);
    }
    if (end == 0) {
        for (u8 s = 0; s < a.states; ++s) to[s] = a.is_quoted(s) ? states.quoted : outside;
        // A quote right before the tile closes its field only if a delimiter follows.
        to[states.quote_end] = a.is_quoted(a.next[a.class_of[text[0]]][states.quote_end]) ? states.quoted : outside;
        return true;
    }
    if (kind != OPENS && kind != CLOSES) return false;
    const bool inside = kind == OPENS && look.closes_behind(look.context, end);
    for (u8 s = 0; s < a.states; ++s) to[s] = inside ? states.quoted : outside;
    return true;
}

// Return the state after n bytes that begin in `state`.
HR_FN u8 run_plain(const Dialect& dialect, const u8* text, usize n, u8 state) {
    const PlainStates states(dialect);
    Escapes escapes(states, state);
    for (usize pos = 0; pos < n; pos += BLOCK) {
        const Block block(text + pos);
        const usize size = n - pos < BLOCK ? n - pos : BLOCK;
        const u8 last = text[pos + size - 1];
        escapes.next(dialect, block, low_bits(size));
        const u64 valid = low_bits(size) & ~escapes.escaped;
        const u64 all = dialect.quote < 0 ? 0 : block.equals(static_cast<u8>(dialect.quote)) & valid;
        if (all == 0) {
            const Role role = escapes.role(size - 1, false);
            state = plain_state(dialect, states, last, dialect.automaton.is_quoted(state), role);
            continue;
        }
        const PlainCarry before(dialect, states, state);
        const TextMasks found = find_masks_of_text(dialect, text + pos, valid, before, all);
        const bool text_quote = ((all & ~found.quotes) >> (size - 1) & 1) != 0;
        const Role role = escapes.role(size - 1, text_quote);
        state = plain_state(dialect, states, last, found.carry.inside != 0, role);
    }
    return state;
}

// The states after a text from outside quotes and from inside.
struct BothSides {
    u8 from_outside, from_inside;
};

// Return the states after a tile that has malformed quotes. Such a quote is text, and so are the others of its field.
// Both sides agree after that field, so the end of the tile usually decides. Example:
// | text      f o " x " , 1
// | outside   . . t . t . .    the first quote begins no field, so both are text (t)
// | inside    . . c . t . .    the first quote closes the field, and the second begins none
HR_FN BothSides run_both_sides(const Dialect& dialect, const u8* text, usize n) {
    constexpr usize FIRST_BYTES = 1024, GROWTH = 8;
    const PlainStates states(dialect);
    for (usize bytes = FIRST_BYTES; bytes < n; bytes *= GROWTH) {
        // An ordinary byte precedes the part, so the state there is one of two.
        usize from = n - bytes;
        const auto is_ordinary = [&](u8 byte) {
            return byte != dialect.quote && byte != dialect.escape &&
                   plain_state(dialect, states, byte, false, Role::usual) == states.unquoted;
        };
        while (from < n && !is_ordinary(text[from - 1])) ++from;
        const u8 after = run_plain(dialect, text + from, n - from, states.unquoted);
        if (after == run_plain(dialect, text + from, n - from, states.quoted)) return {after, after};
    }
    return {run_plain(dialect, text, n, states.field_start), run_plain(dialect, text, n, states.quoted)};
}

// Return the state after n bytes from a state that `summarize_plain` left open.
HR_FN u8 settle_plain(const Dialect& dialect, const u8* text, usize n, u8 state) {
    const BothSides after = run_both_sides(dialect, text, n);
    const bool decides = after.from_outside == after.from_inside && !PlainStates(dialect).is_escape(state);
    return decides ? after.from_outside : run_plain(dialect, text, n, state);
}

// Compute the state map of a tile by the parity of its quotes. Quotes that are misplaced from one side suggest that the
// tile begins on the other. So the map is left open (`unresolved`) for the states on the misplaced side only. If there
// are misplaced quotes from both sides, some are text, and the tile is run from both sides. The byte before the tile is
// no escape, so the map is wrong for the states after one.
template <class Escaping>
HR_FN Summary summarize_unescaped(const Dialect& dialect, const u8* text, usize n, u8* to) {
    const Automaton& a = dialect.automaton;
    const PlainStates states(dialect);
    Summary found{};
    u64 inside = 0, misplaced_outside = 0, misplaced_inside = 0, all_quotes = 0;
    const bool quoting = dialect.quote >= 0;
    const u8 quote = static_cast<u8>(dialect.quote);
    const ByteSet may_precede = bytes_before_quotes(dialect);
    Escaping escapes(states, states.start);
    const auto add = [&](usize pos, u64 valid) {
        const Block block(text + pos);
        const u64 after_escaped = escapes.escaped >> 63;
        escapes.next(dialect, block, valid);
        const u64 quotes = quoting ? block.equals(quote) & valid & ~escapes.escaped : 0;
        if (quotes == 0) return;
        // Many blocks begin with a quote, so the byte before it is found as the others are, without a branch.
        const u64 precede = pos == 0 ? may_precede.in(block) << 1 | 1 : may_precede.in(Block(text + pos - 1));
        const u64 misplaced = quotes & ~(precede & ~(escapes.escaped << 1 | after_escaped));
        const u64 within = prefix_xor(quotes) ^ inside;
        misplaced_outside |= misplaced & within;
        misplaced_inside |= misplaced & ~within;
        inside = static_cast<u64>(static_cast<i64>(within) >> 63);
        all_quotes |= quotes;
    };
    if (quoting || dialect.escape >= 0) {
        usize pos = 0;
        for (; pos + BLOCK <= n; pos += BLOCK) add(pos, ~u64{0});
        if (pos < n) add(pos, low_bits(n - pos));
    }
    found.has_quotes = all_quotes != 0;
    const bool odd = inside != 0, begins = quoting && text[0] == quote;
    const bool both = misplaced_outside != 0 && misplaced_inside != 0;
    const Role role = escapes.role((n - 1) % BLOCK, false);
    const BothSides by_parity = {plain_state(dialect, states, text[n - 1], odd, role),
                                 plain_state(dialect, states, text[n - 1], !odd, role)};
    const BothSides after = both ? run_both_sides(dialect, text, n) : by_parity;
    for (u8 s = 0; s < a.states; ++s) {
        const bool quoted = a.is_quoted(s);
        to[s] = quoted ? after.from_inside : after.from_outside;
        // A quote that is the first byte opens a field at its start.
        const bool is_text = begins && !quoted && !a.is_quoted(a.next[a.class_of[quote]][s]);
        const bool misplaced = (quoted ? misplaced_inside : misplaced_outside) != 0;
        if (is_text || (misplaced && !both)) found.unresolved |= u64{1} << s;
    }
    return found;
}

// Compute the state map of a tile. With escapes, the automaton steps from every state over the first bytes, until no
// state is one after an escape. One or two bytes are enough, unless the tile begins with a run of escapes.
HR_FN Summary summarize_plain(const Dialect& dialect, const u8* text, usize n, u8* to) {
    if (dialect.escape < 0) return summarize_unescaped<NoEscapes>(dialect, text, n, to);
    const Automaton& a = dialect.automaton;
    const PlainStates states(dialect);
    u8 begun[MAX_STATES], rest[MAX_STATES];  // the states after the first bytes, and the map of the other bytes
    for (u32 s = 0; s < a.states; ++s) begun[s] = static_cast<u8>(s);
    bool has_quotes = false, is_open = true;
    usize first = 0;
    for (; is_open && first < n; ++first) {
        has_quotes |= text[first] == dialect.quote;
        is_open = false;
        for (u32 s = 0; s < a.states; ++s) {
            begun[s] = a.next[a.class_of[text[first]]][begun[s]];
            is_open |= states.is_escape(begun[s]);
        }
    }
    if (first == n) {
        for (u32 s = 0; s < a.states; ++s) to[s] = begun[s];
        return {true, 0};
    }
    Summary found = summarize_unescaped<Escapes>(dialect, text + first, n - first, rest);
    const u64 unresolved = found.unresolved;
    found.has_quotes |= has_quotes;
    found.unresolved = 0;
    for (u32 s = 0; s < a.states; ++s) {
        to[s] = rest[begun[s]];
        found.unresolved |= (unresolved >> begun[s] & 1) << s;
    }
    return found;
}

HR_END_NAMESPACE
