// What the search for structure on a GPU (summarize_plain.cu, summarize_dfa.cu, scan_summaries.cu) tells the conversion
// behind it, and the dialects that masks can read. structure/gpu/dialect_tables.py packs and reads the same structs.
//
// A tile owns the bytes in it and the fields that end in it. Tiles are counted from the 16-byte boundary at or before
// the text's first byte, so that every tile but the first begins at one: tile k is the bytes that tile_begin(k) and
// tile_begin(k + 1) enclose. Positions are bytes from the text's first.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// What is known where a tile begins. Entry 0 is all zero, and the one behind the last tile's speaks of the text's end.
// Example, tiles of 8 bytes:
//   a b , c d \n e f | , " g h i k l m | " \n 5
//   entry 1: record 1, column 0, record_begin 6, field_begin 6, open
//   entry 2: record 1, column 1, record_begin 6, field_begin 9, open, state 1 (inside quotes)
//   entry 3: record 2, column 0, record_begin 18, field_begin 18, open: the text's end is the end of this record
struct alignas(16) TileEntry {
    u64 record;        // records that ended before; comment lines and blank lines are none
    u64 record_begin;  // of the record that is open; where none is, the tile's first byte: it may be a line end
    u64 field_begin;   // of the field that is open; behind a separator the next byte
    u32 column;        // of the field that is open: separators since the record began
    u8 state;          // masks: 1 inside quotes, else 0; else the automaton's state
    u8 open;           // a record has begun and not ended. Where none is open, a line end went just before, or nothing
    u8 reserved[2];
};
static_assert(sizeof(TileEntry) == 32);

// What was met anywhere in the text.
enum FindFlag : u32 {
    FIND_REDO = 1,          // a byte that this form cannot read: nothing else here, and no entry, means anything
    FIND_QUOTES = 2,        // quotes
    FIND_STRAY = 4,         // a quote where none may stand, or something behind a closing quote
    FIND_HIGH = 8,          // bytes outside ASCII
    FIND_OPEN = 16,         // the text ends inside a record, which counts
    FIND_UNCLOSED = 32,     // the text ends inside quotes
    FIND_COMMENT = 64,      // the text ends inside a comment line, which is no record
    FIND_UNFINISHED = 128,  // the text ends in a delimiter that had begun behind closing quotes: a stray at its end
    FIND_RETURN = 256       // plain universal dialects: carriage returns, or perhaps bytes outside ASCII
};

// Totals of a text. A last record without a line end counts, its last field too: the search settles it here, and the
// conversion ends them at the text's end if the last entry is `open` and FIND_OPEN is set.
struct FindTotals {
    u64 records;
    u64 fields;       // of those records
    u64 blank_lines;  // left out
    u64 comments;
    u64 bytes;
    u32 flags;
    u32 reserved;
};
static_assert(sizeof(FindTotals) == 48);

// A dialect whose separators and line ends are single ASCII bytes and where nothing escapes or comments: what masks
// read (plain_masks.hpp). Other bytes that mean something must not be in the text; if one of `watched` is, the search
// says FIND_REDO.
enum PlainFlag : u8 {
    PLAIN_UNIVERSAL = 1,   // LF, CR LF and CR all end a line; else `line_end` does
    PLAIN_SKIP_BLANK = 2,  // a line end directly at the start of a record is left out
    PLAIN_DOUBLES = 4,     // within quotes, two quotes stand for one
    PLAIN_QUOTES = 8,      // `quote` encloses fields
    PLAIN_WATCHES = 16     // `watched` means something
};
struct PlainDialect {
    u8 separator;
    u8 line_end;  // LF where universal
    u8 quote;     // where none, the separator
    u8 flags;
    u8 watched[3];  // any byte twice, where there are fewer
    u8 other;       // a byte that means nothing: stands where a tile has no text
};
static_assert(sizeof(PlainDialect) == 8);

// `skew`: how far the text's first byte is behind a 16-byte boundary.
HR_FN u64 tile_begin(u64 tile, u32 tile_bytes, u32 skew) { return tile == 0 ? 0 : tile * tile_bytes - skew; }
// A tile of which `head_bytes` before it are staged, too: staged byte s is the text's byte s + origin, and those from
// `begin` to `end` are the tile's that are text.
struct TileExtent {
    i64 origin;
    u32 begin, end;
};
HR_FN TileExtent extent_of(u64 tile, u32 tile_bytes, u32 head_bytes, u32 skew, u64 bytes) {
    const u64 begin = tile_begin(tile, tile_bytes, skew), next = tile_begin(tile + 1, tile_bytes, skew);
    const i64 origin = static_cast<i64>(tile * tile_bytes) - skew - head_bytes;
    const u64 end = next < bytes ? next : bytes;
    return {origin, static_cast<u32>(static_cast<i64>(begin) - origin),
            static_cast<u32>(static_cast<i64>(end) - origin)};
}
HR_FN u64 tile_count(u64 bytes, u32 tile_bytes, u32 skew) {
    return bytes == 0 ? 0 : (bytes + skew + tile_bytes - 1) / tile_bytes;
}

HR_END_NAMESPACE
