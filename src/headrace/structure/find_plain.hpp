// Plain dialects by masks: separators and line ends are single bytes, nothing escapes or comments. A byte is inside
// quotes where the number of quotes up to it is odd, and every question about structure is a few operations on 64-bit
// words. Source: quote parity as in Langdale and Lemire, "Parsing gigabytes of JSON per second".
#pragma once

#include "core/simd.hpp"
#include "structure/find.hpp"

HR_BEGIN_NAMESPACE

HR_FN u64 low_bits(usize n) { return n >= BLOCK ? ~u64{0} : (u64{1} << n) - 1; }

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
HR_FN u8 plain_state(const Dialect& dialect, const PlainStates& states, u8 last, bool inside) {
    if (dialect.quote >= 0 && last == dialect.quote) return inside ? states.quoted : states.quote_end;
    if (inside) return states.quoted;
    if (last == dialect.separator) return states.field_start;
    if (!dialect.universal_line_end) return last == dialect.line_end ? states.start : states.unquoted;
    if (last == '\r') return states.carriage_return;
    return last == '\n' ? states.start : states.unquoted;
}

HR_FN bool summarise_plain(const Dialect& dialect, const u8* text, usize n, u8* to) {
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

// Behind the last quote of the text; 0 if it has none.
HR_FN usize behind_last_quote(const Dialect& dialect, const u8* text, usize n) {
    for (usize pos = (n + BLOCK - 1) / BLOCK * BLOCK; pos != 0; pos -= BLOCK) {
        const usize begin = pos - BLOCK;
        const u64 quotes = Block(text + begin).equals(static_cast<u8>(dialect.quote)) & low_bits(n - begin);
        if (quotes != 0) return begin + BLOCK - static_cast<usize>(leading_zeros(quotes));
    }
    return 0;
}

// Lenient quotes: the last run that opens or closes settles the state, whatever was before; without quotes every state
// stays inside or outside. False where that is not enough (runs at the borders, or between delimiters).
HR_FN bool summarise_lenient(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8* to,
                             bool& quotes) {
    constexpr u8 NEUTRAL = 0, OPENS = 1, CLOSES = 2;
    const PlainStates states(dialect);
    const u8 outside = plain_state(dialect, states, text[n - 1], false);
    const Automaton& a = dialect.automaton;
    usize end = behind_last_quote(dialect, text, n);
    quotes = end != 0;
    if (!quotes) {
        for (u8 s = 0; s < a.states; ++s) to[s] = a.is_quoted(s) ? s : outside;
        // A quote just before closes the field only if a delimiter follows.
        to[states.quote_end] = a.is_quoted(a.next[a.class_of[text[0]]][states.quote_end]) ? states.quoted : outside;
        return true;
    }
    if (end == n) return false;
    usize begin;
    u8 kind = look.run_before(look.context, end, &begin);
    while (kind == NEUTRAL) {
        const usize next = behind_last_quote(dialect, text, begin);
        if (next == 0) return false;
        end = next;
        kind = look.run_before(look.context, end, &begin);
    }
    if (kind != OPENS && kind != CLOSES) return false;
    const bool inside = kind == OPENS && look.closes_behind(look.context, end);
    for (u8 s = 0; s < a.states; ++s) to[s] = inside ? states.quoted : outside;
    return true;
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

// Where quotes open and close: nowhere, at every quote, or where the index has marks.
enum class Quotes { none, bytes, marked };

// Line ends and separators outside quotes, and what they mean. Example, with blank lines left out:
//   text     a , b \r \n \n c
//   E        . . . 1  1  1  .     line-end bytes
//   after    1 . . .  1  1  1     the byte follows a line-end byte (or begins the text)
//   records  . . . 1  .  .  .     E & ~after: only the first byte of a run ends a record
//   starts   1 . . .  .  .  1     after & ~E
//   blanks   . . . .  .  1  .     E & after, but a LF that completes CR LF is none
template <Quotes Q>
HR_FN PlainMasks find_masks(const Dialect& dialect, const Block& block, u64 valid, PlainCarry& carry, u64 quotes) {
    constexpr bool HasQuote = Q != Quotes::none;
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

// 64 bits of a bitmap from any bit on; the bitmap has a word more than it needs.
HR_FN u64 bits_at(const u64* words, usize at) {
    const u64 low = words[at / 64] >> (at % 64);
    return at % 64 == 0 ? low : low | words[at / 64 + 1] << (64 - at % 64);
}

template <Quotes Q>
HR_FN void index_plain(const Dialect& dialect, const u8* text, usize from, usize to, usize limit, TileIndex& index) {
    const PlainStates states(dialect);
    PlainCarry carry(dialect, states, index.state);
    u64 all_quotes = 0;
    HighBytes high;
    u64 ends = index.end_count, starts = index.start_count, records = index.record_count;
    for (usize pos = from; pos < to; pos += BLOCK) {
        const Block block(text + pos);
        const u64 valid = low_bits(to - pos);
        u64 quotes = 0;
        if constexpr (Q != Quotes::none) {
            quotes = valid &
                     (Q == Quotes::marked ? bits_at(index.marks, pos) : block.equals(static_cast<u8>(dialect.quote)));
        }
        const PlainMasks masks = find_masks<Q>(dialect, block, valid, carry, quotes);
        all_quotes |= quotes;
        if (Q == Quotes::bytes && masks.strays != 0) {
            index.stray_count += flatten_few(masks.strays, static_cast<u32>(pos), index.strays + index.stray_count);
        }
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
    index.has_quotes |= all_quotes != 0 || Q == Quotes::marked;
    index.has_high_bytes |= high.any();
    if (to > from) index.state = plain_state(dialect, states, text[to - 1], carry.inside != 0);
}

HR_END_NAMESPACE
