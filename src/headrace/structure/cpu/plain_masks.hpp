// Reads plain dialects by masks of 64 bytes: separators and line ends are single bytes, and there are no comments. A
// byte is inside quotes if the number of quotes up to it is odd, which a carry-less multiplication computes for 64
// bytes at once. A quote inside an unquoted field is text and is not counted, and neither is any escaped byte. Source:
// quote parity as in Langdale and Lemire, "Parsing gigabytes of JSON per second".
#pragma once

#include "core/cpu/simd.hpp"
#include "structure/cpu/find.hpp"

HR_BEGIN_NAMESPACE

// The states of a plain dialect's automaton, found by stepping it over the special bytes.
struct PlainStates {
    static constexpr u8 NONE = MAX_STATES;
    u8 start, unquoted, field_start, quoted, quote_end, carriage_return;
    u8 escape, quoted_escape;  // after an escape outside quotes and inside; NONE without escapes

    explicit PlainStates(const Dialect& dialect) {
        const Automaton& a = dialect.automaton;
        const auto after = [&](u8 state, u8 byte) { return a.next[a.class_of[byte]][state]; };
        start = 0;
        unquoted = a.next[a.groups - 1][start];
        field_start = after(start, dialect.separator);
        quoted = dialect.quote < 0 ? unquoted : after(start, static_cast<u8>(dialect.quote));
        quote_end = dialect.quote < 0 ? unquoted : after(quoted, static_cast<u8>(dialect.quote));
        carriage_return = dialect.universal_line_end ? after(unquoted, '\r') : start;
        escape = dialect.escape < 0 ? NONE : after(unquoted, static_cast<u8>(dialect.escape));
        quoted_escape = dialect.escape < 0 ? NONE : after(quoted, static_cast<u8>(dialect.escape));
    }
    bool is_escape(u8 state) const { return state == escape || state == quoted_escape; }
};

// Role of a byte: what the dialect says, or text (an escaped byte, or a malformed quote), or an escape.
enum class Role { usual, text, escape };

// Bytes of a block that escape the byte after them, and bytes that are escaped. `next` finds those of the next block.
struct Escapes {
    u64 escaping, escaped = 0;

    Escapes(const PlainStates& states, u8 state) : escaping(u64{states.is_escape(state)} << 63) {}
    void next(const Dialect& dialect, const Block& block, u64 valid) {
        if (dialect.escape < 0) return;
        const u64 carry = escaping >> 63;
        escaping = find_escapes(block.equals(static_cast<u8>(dialect.escape)) & valid, carry);
        escaped = escaping << 1 | carry;
    }
    // Return the role of byte `at` of the block. `text_quote`: it is a quote that is text.
    Role role(usize at, bool text_quote) const {
        if (escaping >> at & 1) return Role::escape;
        return (escaped >> at & 1) != 0 || text_quote ? Role::text : Role::usual;
    }
};

// The same for dialects without escapes.
struct NoEscapes {
    static constexpr u64 escaping = 0, escaped = 0;

    NoEscapes(const PlainStates&, u8) {}
    void next(const Dialect&, const Block&, u64) {}
    Role role(usize, bool text_quote) const { return text_quote ? Role::text : Role::usual; }
};

// Return the state after a byte, from the byte, whether it is inside quotes, and its role.
HR_FN u8 plain_state(const Dialect& dialect, const PlainStates& states, u8 last, bool inside, Role role) {
    if (role == Role::escape) return inside ? states.quoted_escape : states.escape;
    if (role == Role::text) return inside ? states.quoted : states.unquoted;
    if (dialect.quote >= 0 && last == dialect.quote) return inside ? states.quoted : states.quote_end;
    if (inside) return states.quoted;
    if (last == dialect.separator) return states.field_start;
    if (!dialect.universal_line_end) return last == dialect.line_end ? states.start : states.unquoted;
    if (last == '\r') return states.carriage_return;
    return last == '\n' ? states.start : states.unquoted;
}

// State carried from one block of 64 bytes to the next. Bit 0 of each word describes the byte before the block.
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
    // Return whether a block without quotes and delimiters has no masks.
    bool is_within_field() const { return (after_line_end | after_return | after_closing) == 0; }
};

// Return the bytes of delimiters, in quotes or not.
HR_FN u64 delimiter_bytes(const Dialect& dialect, const Block& block) {
    const Places separators = block.places(dialect.separator);
    if (!dialect.universal_line_end) return (separators | block.places(dialect.line_end)).bits();
    return (separators | block.places('\n') | block.places('\r')).bits();
}

struct PlainMasks {
    u64 separators, records, starts, blanks, strays;
};

// Bytes of a block that may separate fields, in quotes or not.
struct Separators {
    u64 ends;         // last bytes of separators
    u64 begins;       // their first bytes; those of separators of one byte are their last
    u64 spaces = 0;   // skipped at the start of a field
    u64 padding = 0;  // spaces skipped after a closing quote
};

// Return the first byte after each run of `members` that begins at a bit of `from`, and the bits of `from` that are no
// members. `leaves`: such a run reaches the end of the block.
HR_FN u64 skip_runs(u64 from, u64 members, bool& leaves) {
    u64 sum;
    leaves = __builtin_add_overflow(from & members, members, &sum);
    return (from | sum) & ~members;
}

// How quotes are found: there are none, every quote byte opens or closes, or the index marks those that do.
enum class Quotes { none, bytes, marked };

// Find separators and line ends outside quotes, and what they mean. Example, blank lines skipped:
//   text     a , b \r \n \n c
//   E        . . . 1  1  1  .     line-end bytes
//   after    1 . . .  1  1  1     the byte follows a line-end byte (or begins the text)
//   records  . . . 1  .  .  .     E & ~after: only the first byte of a run ends a record
//   starts   1 . . .  .  .  1     after & ~E
//   blanks   . . . .  .  1  .     E & after, but a LF that completes CR LF is none
//
// `valid`: bytes of the range that are not escaped. `quotes`: those among them.
// `strays`: malformed quotes, which open where no field begins, and bytes after a closing quote that are neither
// delimiters nor quotes. Padding that the end of the block cuts is one, too.
template <Quotes Q>
HR_FN PlainMasks find_masks(const Dialect& dialect, const Block& block, u64 valid, PlainCarry& carry, u64 quotes,
                            const Separators& given) {
    constexpr bool HasQuote = Q != Quotes::none;
    const u64 inside = HasQuote ? prefix_xor(quotes) ^ carry.inside : 0;
    const u64 outside = valid & ~inside;
    const u64 separators = given.ends & outside;
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
    if (dialect.keeps_blank_lines()) {
        masks.records = line_ends & ~completing;
        masks.starts = after & ~completing & valid;
        masks.blanks = 0;
    } else {
        masks.records = line_ends & ~after;
        masks.starts = after & ~line_ends & valid;
        masks.blanks = line_ends & after & ~completing;
    }
    masks.strays = 0;
    if (HasQuote) {
        const u64 opening = quotes & inside;
        const u64 closing = quotes & ~inside;
        const u64 after_closing = closing << 1 | carry.after_closing;
        bool spaces_leave, padding_leaves;
        const u64 field_start = skip_runs(after | separators << 1 | carry.after_separator, given.spaces, spaces_leave);
        const u64 may_open = dialect.double_quote ? field_start | after_closing : field_start;
        const u64 may_follow = given.begins | line_ends | quotes;
        const u64 after_padding = skip_runs(after_closing, given.padding, padding_leaves);
        masks.strays = (opening & ~may_open) | (after_padding & ~may_follow & valid) | u64{padding_leaves} << 63;
        carry.after_closing = closing >> 63;
        carry.inside = static_cast<u64>(static_cast<i64>(inside) >> 63);
        carry.after_separator = separators >> 63 | u64{spaces_leave};
    }
    return masks;
}

struct TextMasks {
    PlainMasks masks;  // `strays`: faults
    PlainCarry carry;
    u64 quotes;  // quotes that open or close a field
};

// Find the masks of a block in which parity has found malformed quotes. A quote that would open where no field begins
// is text, and so is every other quote up to its field's end. Each turn of the loop removes the first such quote.
// Parameters are passed by value so that the caller's carry stays in registers.
[[gnu::noinline]] HR_FN TextMasks find_masks_of_text(const Dialect& dialect, const u8* text, u64 valid,
                                                     PlainCarry before, u64 all) {
    const Block block(text);
    const u64 returns = dialect.universal_line_end ? block.equals('\r') : 0;
    const u64 separators = block.equals(dialect.separator);
    const u64 delimiters = (separators | block.equals(dialect.line_end) | returns) & valid;
    for (u64 quotes = all;;) {
        PlainCarry carry = before;
        PlainMasks masks = find_masks<Quotes::bytes>(dialect, block, valid, carry, quotes, {separators, separators});
        const u64 misplaced = masks.strays & quotes;
        if (misplaced == 0) {
            if (dialect.lists_strays()) masks.strays |= all & ~quotes;
            return {masks, carry, quotes};
        }
        const u64 first = misplaced & (u64{0} - misplaced);
        const u64 delimiters_after = delimiters & ~(first | (first - 1));
        quotes &= ~((delimiters_after & (u64{0} - delimiters_after)) - first);
    }
}

// Return 64 bits of a bitmap from any bit on. The bitmap has one word more than its bits need.
HR_FN u64 bits_at(const u64* words, usize at) {
    const u64 low = words[at / 64] >> (at % 64);
    return at % 64 == 0 ? low : low | words[at / 64 + 1] << (64 - at % 64);
}

// Appends the masks of blocks to an index, whose counts are set at the end.
class AppendedMasks {
public:
    explicit AppendedMasks(TileIndex& index)
        : index_(index), ends_(index.end_count), starts_(index.start_count), records_(index.record_count) {}
    void add(const PlainMasks& masks, usize pos, usize limit) {
        const u64 owned = pos >= limit ? 0 : low_bits(limit - pos);
        const u32 base = static_cast<u32>(pos);
        const u64 all_ends = masks.separators | masks.records;
        records_ +=
            flatten_few(extract_bits(masks.records, all_ends), static_cast<u32>(ends_), index_.record_last + records_);
        starts_ += flatten_few(masks.starts & owned, base, index_.record_starts + starts_);
        ends_ += flatten(all_ends, base, index_.ends + ends_);
        if (masks.blanks) index_.blank_lines += static_cast<u64>(count_ones(masks.blanks & owned));
    }
    void finish() {
        index_.end_count = ends_;
        index_.start_count = starts_;
        index_.record_count = records_;
    }

private:
    TileIndex& index_;
    u64 ends_, starts_, records_;
};

template <Quotes Q, class Escaping>
HR_FN void index_plain(const Dialect& dialect, const u8* text, usize from, usize to, usize limit, TileIndex& index) {
    const PlainStates states(dialect);
    PlainCarry carry(dialect, states, index.state);
    u64 all_quotes = 0;
    usize behind_text_quote = from;  // position after the last quote that is text
    Escaping escapes(states, index.state);
    u64 all_escapes = 0;
    HighBytes high;
    AppendedMasks appended(index);
    for (usize pos = from; pos < to; pos += BLOCK) {
        const Block block(text + pos);
        const Escaping before_block = escapes;
        escapes.next(dialect, block, low_bits(to - pos));
        all_escapes |= escapes.escaping;
        const u64 valid = low_bits(to - pos) & ~escapes.escaped;
        u64 quotes = 0;
        if constexpr (Q != Quotes::none) {
            quotes = valid &
                     (Q == Quotes::marked ? bits_at(index.marks, pos) : block.equals(static_cast<u8>(dialect.quote)));
        }
        high.add(block);
        if (quotes == 0 && carry.is_within_field() && (delimiter_bytes(dialect, block) & valid) == 0) {
            carry.after_separator = 0;
            continue;
        }
        const u64 inside_before = carry.inside;
        const u64 separators = block.equals(dialect.separator);
        PlainMasks masks = find_masks<Q>(dialect, block, valid, carry, quotes, {separators, separators});
        all_quotes |= quotes;
        if (Q == Quotes::bytes && masks.strays != 0) {
            const bool text_quote = behind_text_quote == pos;
            const Role role = before_block.role(BLOCK - 1, text_quote);
            const u8 state =
                pos == from ? index.state : plain_state(dialect, states, text[pos - 1], inside_before != 0, role);
            const PlainCarry before(dialect, states, state);
            const TextMasks found = find_masks_of_text(dialect, text + pos, valid, before, quotes);
            masks = found.masks;
            carry = found.carry;
            const u64 texts = quotes & ~found.quotes;
            if (texts != 0) behind_text_quote = pos + BLOCK - static_cast<usize>(leading_zeros(texts));
            index.stray_count += flatten_few(masks.strays, static_cast<u32>(pos), index.strays + index.stray_count);
        }
        appended.add(masks, pos, limit);
    }
    appended.finish();
    index.has_quotes |= all_quotes != 0 || Q == Quotes::marked;
    index.has_escapes |= all_escapes != 0;
    index.has_high_bytes |= high.any();
    if (to == from) return;
    const Role role = escapes.role((to - from - 1) % BLOCK, behind_text_quote == to);
    index.state = plain_state(dialect, states, text[to - 1], carry.inside != 0, role);
}

HR_END_NAMESPACE
