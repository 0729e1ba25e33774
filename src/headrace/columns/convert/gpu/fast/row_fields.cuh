// Fields of a record, one behind the other, as a lane reads them from staged text: the bits of fields' ends tell how
// long a field is, and a window of eight bytes holds its digits. No index of fields is made.
//
// "12.5,7,": bytes are taken as distances from '0', so that digits are 0 to 9 and what is shifted in is a digit 0. The
// field has 4 bytes; moved to the window's end it is 0000'12.5; without its point 00000125, and one digit stands behind
// the point.
#pragma once

#include "columns/convert/gpu/fast/row_quotes.cuh"

namespace headrace {

constexpr u32 zeros = 0x30303030;
constexpr u32 window_bytes = 8;

// A lane's record, and how far it is read.
struct Cursor {
    u32 at;     // staged byte where the next field begins
    u32 end;    // of the record
    bool live;  // there is one, and so far it is as a record has to be
};

// The records that a warp reads: row `first + 32 * i + lane` by cursor i of each lane.
struct RowGroup {
    u64 first;
    u64 row;  // of this lane's first cursor
};

// A field: its text without enclosing quotes.
struct Field {
    u32 begin, n;
    u32 next;  // where the next one begins
    bool quoted;
};

// How far it is to the end of the field that goes on at `at`: up to 31, or more.
HR_FN u32 to_end(const RowMemory& memory, u32 at) {
    const u32* const from = memory.ends + at / 32;
    return first_bit(__funnelshift_r(from[0], from[1], at));
}

// Where a field of any length ends.
HR_FN u32 find_end(const RowMemory& memory, u32 at) {
    u32 n = to_end(memory, at);
    while (n > 31) {
        at += 32;
        n = to_end(memory, at);
    }
    return at + n;
}

// The field of `raw` bytes at `at`.
HR_FN Field field_at(const RowMemory& memory, const RowTask& task, u32 at, u32 raw) {
    if constexpr (!may_quote) return {at, raw, at + raw + 1, false};
    const bool quoted = staged_text(memory)[at] == task.dialect.quote && raw - 2 < staged_bytes;
    return {quoted ? at + 1 : at, quoted ? raw - 2 : raw, at + raw + 1, quoted};
}

// Eight bytes from a field's first on, each ^ '0'. Digits are read backwards from a field's end elsewhere (digits.cuh);
// here a window does not wait for the field's length, so that both are on their way at once.
struct Window {
    u32 low, high;
};

HR_FN Window open_window(const u32* text, u32 at) {
    u32 words[2];
    load_from(text, at, words);
    return {words[0] ^ zeros, words[1] ^ zeros};
}

// The digits of a window's first n bytes, at its end; n from 1 to 8.
struct Digits {
    u32 low, high;
};
HR_FN Digits align(const Window& window, u32 n) {
    const u64 moved = (u64{window.high} << 32 | window.low) << ((64 - 8 * n) & 63);
    return {static_cast<u32>(moved), static_cast<u32>(moved >> 32)};
}

HR_FN bool are_digits(Digits d) {
    return ((((d.low + 0x76767676) | d.low) | ((d.high + 0x76767676) | d.high)) & tile::top_bits) == 0;
}

HR_FN u32 number_of(Digits d) { return four_digits(d.low) * 10000 + four_digits(d.high); }

// Takes the point out of digits at their window's end. Returns eight times how many digits follow it, or no_point.
constexpr u32 no_point = ~0u;
HR_FN u32 close_point(Digits& d) {
    constexpr u32 point = 0x1E1E1E1E;  // '.' ^ '0'
    const u32 low = tile::borrows(d.low ^ point) & tile::top_bits;
    const u32 high = tile::borrows(d.high ^ point) & tile::top_bits;
    // Of the first point: bytes behind it stay, those before it move over it.
    const u64 found = u64{high} << 32 | low;
    const u64 first = found & (0 - found);
    const u64 behind = found != 0 ? 0 - (first << 1) : ~u64{0};
    const u64 digits = u64{d.high} << 32 | d.low;
    const u64 closed = (digits & behind) | ((digits << 8) & ~behind);
    d = {static_cast<u32>(closed), static_cast<u32>(closed >> 32)};
    const u32 bits = static_cast<u32>(__popc(static_cast<u32>(behind)) + __popc(static_cast<u32>(behind >> 32)));
    return found != 0 ? bits : no_point;
}

// Whether a number has a zero before other digits, which inference takes for text.
HR_FN bool has_zero_first(const Window& window, u32 n) {
    return n > 1 && (window.low & 0xFF) == 0 && (window.low >> 8 & 0xFF) <= 9;
}

}  // namespace headrace
