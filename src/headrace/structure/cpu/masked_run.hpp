// Reads blocks without quotes and escapes by masks, in dialects that the automaton reads otherwise: with separators of
// several bytes, comments, or skipped spaces.
#pragma once

#include "core/cpu/simd.hpp"
#include "structure/cpu/plain_masks.hpp"
#include "structure/cpu/special_bytes.hpp"

HR_BEGIN_NAMESPACE

// Return the state after bytes [from, to), which have no quotes.
HR_FN u8 run_unquoted(const Dialect& dialect, const u8* text, usize from, usize to, u8 state) {
    const Automaton& a = dialect.automaton;
    const u32 other = a.groups - 1;
    usize done = from;
    for (usize pos = from; pos < to; pos += BLOCK) {
        u64 special = special_bytes(dialect, Block(text + pos)) & low_bits(to - pos);
        for (; special != 0; special &= special - 1) {
            const usize at = pos + static_cast<usize>(trailing_zeros(special));
            if (at > done) state = a.next[other][state];
            state = a.next[a.class_of[text[at]]][state];
            done = at + 1;
        }
    }
    return to > done ? a.next[other][state] : state;
}

// A run of blocks that masks read. It begins in a state that the last byte alone determines, outside quotes, comments
// and delimiters. The automaton takes over where a comment may begin, so comments have to be rare to be cheap.
class MaskedRun {
public:
    explicit MaskedRun(const Dialect& dialect) : dialect_(dialect), states_(dialect), carry_(dialect, states_, 0) {
        const u8* const separator = dialect.separator_text;
        const u8 field_start = run_one_by_one(separator, dialect.separator_length, states_.unquoted);
        begins_ = u64{1} << states_.start | u64{1} << states_.carriage_return | u64{1} << states_.unquoted |
                  u64{1} << field_start;
    }

    // Return whether a run can begin at `pos`. Bytes before it are read, too, since a separator may end there.
    bool can_begin(usize pos, u8 state) const {
        return pos + 1 >= dialect_.separator_length && (begins_ >> state & 1) != 0;
    }
    void begin(usize pos, u8 state) {
        carry_ = PlainCarry(dialect_, states_, state);
        from_ = separable_from_ = pos;
        state_ = state;
    }

    // Append a block to the index. Return false, and do nothing, if a comment may begin in it.
    bool add(const u8* text, usize pos, u64 valid, usize limit, TileIndex& index) {
        const Block block(text + pos);
        PlainCarry carry = carry_;
        PlainMasks masks = find_masks<Quotes::none>(dialect_, block, valid, carry, 0);
        if (dialect_.comment >= 0 && (masks.starts & block.equals(static_cast<u8>(dialect_.comment))) != 0)
            return false;
        if (dialect_.separator_length > 1) masks.separators = find_separators(text, pos, valid);
        carry_ = carry;
        const u64 ends = masks.separators | masks.records;
        if (ends != 0) {
            // From here on the state does not depend on what precedes the delimiter.
            const usize end = pos + BLOCK - static_cast<usize>(leading_zeros(ends));
            from_ = end - from_ > dialect_.separator_length ? end - dialect_.separator_length : from_;
            state_ = states_.unquoted;
        }
        AppendedMasks appended(index);
        appended.add(masks, pos, limit);
        appended.finish();
        return true;
    }

    // Return the state after the blocks that were added, which end at `pos`.
    u8 state_at(const u8* text, usize pos) const { return run_unquoted(dialect_, text, from_, pos, state_); }

private:
    u8 run_one_by_one(const u8* text, usize size, u8 state) const {
        const Automaton& a = dialect_.automaton;
        for (usize i = 0; i < size; ++i) state = a.next[a.class_of[text[i]]][state];
        return state;
    }

    // Return the last bytes of separators. Of those that overlap, the leftmost counts.
    u64 find_separators(const u8* text, usize pos, u64 valid) {
        const usize length = dialect_.separator_length;
        u64 found = valid, separators = 0;
        for (usize i = 0; i < length; ++i) {
            found &= Block(text + pos + i - (length - 1)).equals(dialect_.separator_text[i]);
        }
        for (; found != 0; found &= found - 1) {
            const usize end = pos + static_cast<usize>(trailing_zeros(found)) + 1;
            if (end < separable_from_ + length) continue;
            separators |= found & (u64{0} - found);
            separable_from_ = end;
        }
        return separators;
    }

    const Dialect& dialect_;
    const PlainStates states_;
    PlainCarry carry_;
    u64 begins_ = 0;            // bit s: a run may begin in state s
    usize from_ = 0;            // the state there was `state_`
    usize separable_from_ = 0;  // after the last separator
    u8 state_ = 0;
};

HR_END_NAMESPACE
