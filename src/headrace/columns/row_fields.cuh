// Fields of a record, one behind the other, as a lane reads them from staged text: a window of eight bytes tells where
// the field ends and holds its digits. No index of fields is made: what a field costs is its window.
//
// "12.5,7,": bytes are taken as distances from '0', so that digits are 0 to 9 and what is shifted in is a digit 0. The
// field has 4 bytes; moved to the window's end it is 0000'12.5; without its point 00000125, and three digits less one
// stand behind the point.
#pragma once

#include "columns/row_tile.cuh"

namespace headrace {

constexpr u32 zeros = 0x30303030;
constexpr u32 far_field = 8;  // a length of a field that does not end in its window

// A lane's record, and how far it is read.
struct Cursor {
    u32 at;   // staged byte where the next field begins
    u32 end;  // of the record
    bool live;  // there is one, and so far it is as a record has to be
};

// The records that a warp reads: row `first + 32 * i + lane` by cursor i of each lane.
struct RowGroup {
    u64 first;
    u64 row;  // of this lane's first cursor
};

// A field's first bytes, each ^ '0', and how many it has.
struct Window {
    u32 low, high;
    u32 n;
};

// Place of the lowest bit; of 0, something above 31.
HR_FN u32 first_bit(u32 bits) {
#if defined(__CUDACC__)
    u32 place;
    asm("{ .reg .u32 t; brev.b32 t, %1; bfind.shiftamt.u32 %0, t; }" : "=r"(place) : "r"(bits));
    return place;
#else
    return bits != 0 ? static_cast<u32>(trailing_zeros(bits)) : ~0u;
#endif
}

template <u32 count>
HR_FN void load_from(const u32* text, u32 at, u32 (&words)[count]) {
    const u32* const from = text + at / 4;
    u32 low = from[0];
#pragma unroll
    for (u32 i = 0; i < count; ++i) {
        const u32 high = from[i + 1];
        words[i] = __funnelshift_r(low, high, 8 * (at % 4));
        low = high;
    }
}

// Bytes before the first that is marked in eight, by bit 7 of its byte; 8 or more if there is none.
HR_FN u32 bytes_before(u32 low, u32 high) {
    const u32 first = low != 0 ? low : high;
    return first_bit(first) / 8 + (low != 0 ? 0 : 4);
}

// `separator`: that of the dialect, ^ '0', in all bytes.
HR_FN Window open_window(const u32* text, const Cursor& cursor, bool last, u32 separator) {
    u32 words[2];
    load_from(text, cursor.at, words);
    Window window{words[0] ^ zeros, words[1] ^ zeros, 0};
    const u32 n = bytes_before(tile::borrows(window.low ^ separator) & tile::top_bits,
                               tile::borrows(window.high ^ separator) & tile::top_bits);
    window.n = last ? cursor.end - cursor.at : n;
    return window;
}

// Where a field of any length ends: at the first separator from `at` on, or behind `limit` if there is none before it.
// `also`: another byte to stop at, or the separator again.
HR_FN u32 find_end(const u32* text, u32 at, u32 limit, u32 separator, u32 also) {
    while (at < limit) {
        u32 words[2];
        load_from(text, at, words);
        const u32 low = (tile::borrows(words[0] ^ separator) | tile::borrows(words[0] ^ also)) & tile::top_bits;
        const u32 high = (tile::borrows(words[1] ^ separator) | tile::borrows(words[1] ^ also)) & tile::top_bits;
        if ((low | high) != 0) return at + bytes_before(low, high);
        at += 8;
    }
    return at;
}

// The digits of a window's first n bytes, at its end; n up to 8.
struct Digits {
    u32 low, high;
};
HR_FN Digits align(const Window& window) {
    const u64 moved = (u64{window.high} << 32 | window.low) << ((64 - 8 * window.n) & 63);
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
HR_FN bool has_zero_first(const Window& window) {
    return window.n > 1 && (window.low & 0xFF) == 0 && (window.low >> 8 & 0xFF) <= 9;
}

}  // namespace headrace
