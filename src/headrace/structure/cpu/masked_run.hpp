// Reads a text from a known state by masks, in dialects that are not plain: with separators of several bytes, comments
// or skipped spaces. The automaton reads the blocks that masks decline, which have malformed quotes, escapes or the
// first byte of a comment. So these have to be rare to be cheap.
#pragma once

#include "core/cpu/simd.hpp"
#include "structure/cpu/all_states.hpp"
#include "structure/cpu/plain_masks.hpp"
#include "structure/cpu/special_bytes.hpp"

HR_BEGIN_NAMESPACE

enum class BlockReading { done, malformed_quote, declined };

// A run of blocks that masks read. It begins where the state does not depend on the bytes before, except inside quotes
// or not.
class MaskedRun {
public:
    MaskedRun(const Dialect& dialect, const u8* text)
        : dialect_(dialect), text_(text), states_(dialect), carry_(dialect, states_, 0) {
        const Automaton& a = dialect.automaton;
        field_start_ = states_.unquoted;
        for (usize i = 0; i < dialect.separator_length; ++i)
            field_start_ = a.next[a.class_of[dialect.separator_text[i]]][field_start_];
        begins_ = u64{1} << states_.start | u64{1} << states_.carriage_return | u64{1} << states_.unquoted |
                  u64{1} << field_start_ | u64{1} << states_.quoted | u64{1} << states_.quote_end;
    }

    // Return whether a run can begin at `pos`. Bytes before it are read, too, since a separator may end there.
    bool can_begin(usize pos, u8 state) const {
        return dialect_.allows_masks && pos + 1 >= dialect_.separator_length && (begins_ >> state & 1) != 0;
    }
    void begin(usize pos, u8 state) {
        carry_ = PlainCarry(dialect_, states_, state);
        carry_.after_separator = state == field_start_;
        from_ = separable_from_ = pos;
        state_ = state;
    }

    // Find the masks of a block. If it is not `done`, the run is as before.
    BlockReading read(usize pos, u64 valid, PlainMasks& masks) {
        const Block block(text_ + pos);
        const u64 quotes = dialect_.quote < 0 ? 0 : block.equals(static_cast<u8>(dialect_.quote)) & valid;
        if ((quoting_bytes(dialect_, block) & valid) != (dialect_.looks_ahead() ? 0 : quotes))
            return BlockReading::declined;
        PlainCarry carry = carry_;
        usize separable_from = separable_from_;
        const u64 spaces = dialect_.trims_fields() ? block.equals(' ') & valid : 0;
        // Without quotes, only spaces have to be followed from block to block.
        const bool is_bare = (quotes | carry.inside | carry.after_closing) == 0 && !dialect_.trims_fields();
        const Separators separators = find_separators(block, pos, valid, separable_from, spaces, is_bare);
        if (is_bare) {
            masks = find_masks<Quotes::none>(dialect_, block, valid, carry, 0, separators);
            carry.after_separator = masks.separators >> 63;
        } else {
            masks = find_masks<Quotes::bytes>(dialect_, block, valid, carry, quotes, separators);
        }
        if (masks.strays != 0) return BlockReading::malformed_quote;
        if (dialect_.comment >= 0 && (masks.starts & block.equals(static_cast<u8>(dialect_.comment))) != 0)
            return BlockReading::declined;
        carry_ = carry;
        separable_from_ = separable_from;
        find_known_state(pos, valid, masks);
        return BlockReading::done;
    }

    // Return the state after the blocks that were read, which end at `pos`.
    u8 state_at(usize pos) const {
        const Automaton& a = dialect_.automaton;
        u8 state = state_;
        for (usize at = from_; at < pos; ++at) state = a.next[a.class_of[text_[at]]][state];
        return state;
    }

private:
    // Of separators that overlap, the leftmost counts. If the block `is_bare`, their first bytes are not needed.
    Separators find_separators(const Block& block, usize pos, u64 valid, usize& separable_from, u64 spaces,
                               bool is_bare) const {
        const usize length = dialect_.separator_length;
        const u64 padding = dialect_.strip ? spaces : 0;
        if (length == 1) {
            const u64 bytes = block.equals(dialect_.separator);
            return {bytes, bytes, spaces, padding};
        }
        u64 found = valid, begins = is_bare ? 0 : valid, ends = 0;
        for (usize i = 0; i < length; ++i) {
            found &= Block(text_ + pos + i - (length - 1)).equals(dialect_.separator_text[i]);
        }
        for (usize i = 0; begins != 0 && i < length; ++i) {
            begins &= Block(text_ + pos + i).equals(dialect_.separator_text[i]);
        }
        for (; found != 0; found &= found - 1) {
            const usize end = pos + static_cast<usize>(trailing_zeros(found)) + 1;
            if (end < separable_from + length) continue;
            ends |= found & (u64{0} - found);
            separable_from = end;
        }
        return {ends, begins, spaces, padding};
    }

    // The state is known inside quotes, and after a delimiter.
    void find_known_state(usize pos, u64 valid, const PlainMasks& masks) {
        const Automaton& a = dialect_.automaton;
        const u64 ends = masks.separators | masks.records;
        if (carry_.inside != 0) {
            from_ = pos + BLOCK - static_cast<usize>(leading_zeros(valid));
            state_ = states_.quoted;
        } else if (ends != 0) {
            from_ = pos + BLOCK - static_cast<usize>(leading_zeros(ends));
            const bool ends_record = masks.records > masks.separators;
            state_ = ends_record ? a.next[a.class_of[text_[from_ - 1]]][states_.unquoted] : field_start_;
        }
    }

    const Dialect& dialect_;
    const u8* const text_;
    const PlainStates states_;
    PlainCarry carry_;
    u8 field_start_;
    u64 begins_ = 0;            // bit s: a run may begin in state s
    usize from_ = 0;            // the state there was `state_`
    usize separable_from_ = 0;  // after the last separator
    u8 state_ = 0;
};

// Reads blocks from a known state, each by masks or by the automaton. `Sink` takes what they find.
template <class Sink>
class KnownStateRun {
public:
    KnownStateRun(const Dialect& dialect, const u8* text, const QuoteLook& look, const Sink& sink)
        : dialect_(dialect), text_(text), look_(look), sink_(sink), masked_(dialect, text) {}

    void begin(usize pos, u8 state) {
        done_ = pos;
        state_ = state;
        is_masked_ = false;
    }

    // Read the block by masks. If that is not `done`, the run is as before.
    BlockReading read_by_masks(usize pos, u64 valid) {
        if (!is_masked_) {
            step_over_others(pos);
            if (!masked_.can_begin(pos, state_)) return BlockReading::declined;
            masked_.begin(pos, state_);
            is_masked_ = true;
        }
        PlainMasks masks;
        const BlockReading reading = masked_.read(pos, valid, masks);
        if (reading == BlockReading::done) sink_.add(masks, pos);
        return reading;
    }

    void read_by_automaton(usize pos, u64 valid) {
        const Automaton& a = dialect_.automaton;
        if (is_masked_) begin(pos, masked_.state_at(pos));
        for (u64 special = special_bytes(dialect_, Block(text_ + pos)) & valid; special != 0; special &= special - 1) {
            const usize at = pos + static_cast<usize>(trailing_zeros(special));
            step_over_others(at);
            const u32 group = group_at(dialect_, text_, at, &state_, 1, look_);
            sink_.add(a.emit[group][state_], at);
            state_ = a.next[group][state_];
            done_ = at + 1;
        }
    }

    // Pass over text without quotes and escapes from `pos`, where the blocks that were read end, up to `to`, after a
    // line end. Inside quotes nothing changes, and outside, all states are the same there. Then read on to `end`.
    void skip(usize pos, usize to, usize end) {
        if (is_masked_) begin(pos, masked_.state_at(pos));
        step_over_others(to - 1);
        state_ = dialect_.automaton.next[dialect_.automaton.class_of[text_[to - 1]]][state_];
        done_ = to;
        for (; to < end; to += BLOCK) read_by_automaton(to, low_bits(end - to));
    }

    // Return the state after all blocks, which end at `to`.
    u8 finish(usize to) {
        if (is_masked_) return masked_.state_at(to);
        step_over_others(to);
        return state_;
    }

private:
    void step_over_others(usize at) {
        if (at == done_) return;
        const u32 other = dialect_.automaton.groups - 1;
        sink_.add(dialect_.automaton.emit[other][state_], done_);
        state_ = dialect_.automaton.next[other][state_];
        done_ = at;
    }

    const Dialect& dialect_;
    const u8* const text_;
    const QuoteLook look_;
    Sink sink_;
    MaskedRun masked_;
    bool is_masked_ = false;  // the blocks up to here were read by masks
    usize done_ = 0;          // otherwise: bytes that the state has seen
    u8 state_ = 0;
};

HR_END_NAMESPACE
