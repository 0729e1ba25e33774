// Reads a record's fields from staged text, one after the other, by one lane. The bits of field ends give a field's
// length, and a window of eight bytes holds its digits. No index of fields is made.
//
// Example "12.5,7,": bytes are taken relative to '0', so digits are 0 to 9 and a shifted-in zero is a digit 0. The
// field has 4 bytes. Shifted to the window's end it is 0000'12.5; without its point 00000125, with one digit after the
// point.
#pragma once

#include "columns/convert/gpu/convert_task.hpp"
#include "columns/convert/gpu/fast/row_quotes.cuh"

namespace headrace {

// What the columns of the program have: bits of RowKind, and those after them.
#if HR_WRITES
constexpr u32 row_kinds = HR_KINDS;
// A program of all kinds and forms needs more than the 56 registers that 6 blocks leave a thread. With 4 blocks and
// fewer spills, words take 0.8 of the time (bench/results/h100/2026-11-28-installed-kernels.md).
constexpr u32 resident_blocks = row_kinds == ALL_ROW_KINDS ? 4 : HR_BLOCKS;
#elif HR_NULLS
constexpr u32 row_kinds = ROW_NULLS;
#else
constexpr u32 row_kinds = 0;
#endif
constexpr bool has_marks = (row_kinds & ROW_MARKS) != 0, has_formats = (row_kinds & ROW_FORMATS) != 0;
constexpr bool has_words = (row_kinds & ROW_WORDS) != 0, has_short = (row_kinds & ROW_SHORT) != 0;
constexpr bool has_zones = (row_kinds & ROW_ZONES) != 0, has_null_words = (row_kinds & ROW_NULLS) != 0;
// Kernels that measure strings have one program for texts with and without them.
constexpr bool has_escapes = by_dfa && (!HR_WRITES || (row_kinds & ROW_ESCAPES) != 0);

HR_FN constexpr bool has_kind(RowKind kind) { return (row_kinds >> static_cast<u32>(kind) & 1) != 0; }

// Whether a record that begins far before a tile is read in parts, each by the tile in which its fields end.
constexpr bool splits_records = HR_WRITES && !by_dfa && per_lane == 1 && has_kind(RowKind::text);
// Results of split_column that are no number of bytes: the whole field, or the rest of one that began before the tile.
constexpr u32 no_part = ~0u, rest_part = ~1u;

constexpr u32 zeros = 0x30303030;
constexpr u32 window_bytes = 8;

// A lane's record and the position up to which it is read.
struct Cursor {
    u32 at;         // staged byte where the next field begins
    u32 end;        // end of the record
    bool live;      // the record exists and is well-formed up to here
    bool is_short;  // some fields of it are missing, and null
};

// Returns whether the cursor's next field is missing, and null.
HR_FN bool is_missing(const RowTask& task, const Cursor& cursor) {
    return has_short && (task.flags & ROW_TASK_FILLS) && cursor.live && cursor.at > cursor.end;
}

// Records that a warp reads: cursor i of lane k has row `first + 32 * i + k`.
struct RowGroup {
    u64 first;
    u64 row;                       // row of this lane's first cursor
    const ConvertColumn* columns;  // the table of the general conversion
    bool has_parts;                // one of the records is read in parts
    bool may_drop;                 // bytes within the fields' text may be dropped
};

// A field: its text without enclosing quotes.
struct FieldSpan {
    u32 begin, n;
    u32 next;  // begin of the next field
    bool quoted;
};

// Loads a column's entry as two vectors of 16 bytes.
HR_FN RowColumn load_column(const RowColumn* columns, u32 number) {
    struct ColumnHalves {
        uint4 low, high;
    };
    const uint4* const from = reinterpret_cast<const uint4*>(columns + number);
    return bits_as<RowColumn>(ColumnHalves{__ldg(from), __ldg(from + 1)});
}

// Returns the distance to the end of the field at `at`: up to 31, or a number above.
HR_FN u32 to_end(const RowMemory& memory, u32 at) {
    const u32* const from = memory.ends + at / 32;
    return first_bit(__funnelshift_r(from[0], from[1], at));
}

// Returns the end of a field of any length.
HR_FN u32 find_end(const RowMemory& memory, u32 at) {
    u32 n = to_end(memory, at);
    while (n > 31) {
        at += 32;
        n = to_end(memory, at);
    }
    return at + n;
}

// Returns the first field end at or after a staged byte, which is the same for all lanes of the warp.
HR_FN u32 end_from(const RowMemory& memory, u32 at) {
    u32 word = at / 32, own = ~0u << (tile::lane() == 0 ? at % 32 : 0);
    while (true) {
        const u32 place = min(word + tile::lane(), chunks);
        own &= memory.ends[place];
        const u32 lanes = __ballot_sync(tile::all_lanes, own != 0);
        if (lanes != 0) return tile::shuffle(32 * place + first_bit(own), first_bit(lanes));
        word += tile::lanes;
        own = ~0u;
    }
}

// Returns the end of each lane's field, if some have more than 31 bytes. All lanes call this together: they search for
// the ends of long fields one after the other, 1 KB at a time. `n`: as to_end returns it.
HR_FN u32 find_long_ends(const RowMemory& memory, u32 at, u32 n) {
    constexpr u32 alone = 256;  // bytes that each lane searches by itself
    const u32 until = at + alone;
    while (n > 31 && at < until) {
        at += 32;
        n = to_end(memory, at);
    }
    for (u32 left = __ballot_sync(tile::all_lanes, n > 31); left != 0; left &= left - 1) {
        const u32 lane = first_bit(left), end = end_from(memory, tile::shuffle(at, lane));
        if (tile::lane() == lane) n = end - at;
    }
    return at + n;
}

// Returns the end of each lane's field, of any length. All lanes call this together.
HR_FN u32 find_ends(const RowMemory& memory, u32 at) {
    const u32 n = to_end(memory, at);
    return __any_sync(tile::all_lanes, n > 31) ? find_long_ends(memory, at, n) : at + n;
}

// Returns the number of bytes of the separator or line end that precede the field end at `place`. `record_end`: the end
// of the record, if it is in the tile.
HR_FN u32 delimiter_more(const RowTask& task, u32 place, u32 record_end) {
    if constexpr (!by_dfa) return 0;
    return place != record_end ? task.dfa.separator_more : task.dfa.line_end_more;
}

// Returns whether the dialect skips spaces around fields.
HR_FN bool skips_spaces(const RowTask& task) { return by_dfa && task.dfa.dialect.trims_fields(); }

// Returns the bytes of a field and the spaces around it: up to 31, or a number above if spaces are no reason for it.
HR_FN u32 padded_bytes(const RowMemory& memory, const RowTask& task, u32 at) {
    const u32 n = to_end(memory, at);
    return n > 31 && skips_spaces(task) ? find_end(memory, at) - at : n;
}

// Moves past the spaces that the dialect skips at the begin of `n` bytes from `at` on, and leaves out those at the end.
HR_FN void trim(const RowMemory& memory, const RowTask& task, u32& at, u32& n) {
    if (!skips_spaces(task)) return;
    const u8* const text = staged_text(memory);
    for (; n != 0 && text[at] == ' '; --n) ++at;
    while (task.dfa.dialect.strip && n != 0 && text[at + n - 1] == ' ') --n;
}

// Returns the field at the cursor, `raw` bytes before the end of its separator.
HR_FN FieldSpan field_at(const RowMemory& memory, const RowTask& task, const Cursor& cursor, u32 raw) {
    u32 at = cursor.at;
    if (is_missing(task, cursor)) return {at, 0, at, false};
    const u32 next = at + raw + 1;
    if constexpr (!may_quote) return {at, raw, next, false};
    u32 n = raw - delimiter_more(task, at + raw, cursor.end);
    trim(memory, task, at, n);
    const bool quoted = staged_text(memory)[at] == task.dialect.quote && n - 2 < staged_bytes &&
                        (!by_dfa || (is_dropped(memory, at) && is_dropped(memory, at + n - 1)));
    return {quoted ? at + 1 : at, quoted ? n - 2 : n, next, quoted};
}

// The eight bytes from a field's first one on, each ^ '0'. Elsewhere digits are read backwards from a field's end
// (digits.cuh). Here the window does not depend on the field's length, so both loads are in flight at once.
struct LeadingBytes {
    u32 low, high;
};

HR_FN LeadingBytes open_window(const u32* text, u32 at) {
    u32 words[2];
    load_from(text, at, words);
    return {words[0] ^ zeros, words[1] ^ zeros};
}

// The first n bytes of a window, 1 to 8, shifted to its end.
struct Digits {
    u32 low, high;
};
HR_FN Digits align(const LeadingBytes& window, u32 n) {
    const u64 moved = (u64{window.high} << 32 | window.low) << ((64 - 8 * n) & 63);
    return {static_cast<u32>(moved), static_cast<u32>(moved >> 32)};
}

HR_FN bool are_digits(Digits d) {
    return ((((d.low + 0x76767676) | d.low) | ((d.high + 0x76767676) | d.high)) & tile::top_bits) == 0;
}

HR_FN u32 number_of(Digits d) { return four_digits(d.low) * 10000 + four_digits(d.high); }

// Removes the point from digits at their window's end. Returns eight times the number of digits after it, or no_point.
// `point`: the decimal mark ^ '0', four times.
constexpr u32 no_point = ~0u;
HR_FN u32 close_point(Digits& d, u32 point) {
    const u32 low = tile::borrows(d.low ^ point) & tile::top_bits;
    const u32 high = tile::borrows(d.high ^ point) & tile::top_bits;
    // Bytes after the first point stay; those before it move over it.
    const u64 found = u64{high} << 32 | low;
    const u64 first = found & (0 - found);
    const u64 after_point = found != 0 ? 0 - (first << 1) : ~u64{0};
    const u64 digits = u64{d.high} << 32 | d.low;
    const u64 closed = (digits & after_point) | ((digits << 8) & ~after_point);
    d = {static_cast<u32>(closed), static_cast<u32>(closed >> 32)};
    const u32 bits =
        static_cast<u32>(__popc(static_cast<u32>(after_point)) + __popc(static_cast<u32>(after_point >> 32)));
    return found != 0 ? bits : no_point;
}

// Returns whether a number has a zero before other digits. Inference takes such a text for string.
HR_FN bool has_zero_first(const LeadingBytes& window, u32 n) {
    return n > 1 && (window.low & 0xFF) == 0 && (window.low >> 8 & 0xFF) <= 9;
}

}  // namespace headrace
