// Start state of each tile: the result of the structure search on a GPU (summarize_plain.cu, summarize_dfa.cu,
// scan_summaries.cu) and the input of the conversion. Also the dialects that its kernels read.
//
// A tile owns its bytes and the fields that end in it. Tile 0 starts at the 16-byte boundary at or before the text's
// first byte, so all other tiles start at a boundary and load whole vectors. Tile k is the bytes from tile_begin(k) up
// to tile_begin(k + 1). All positions count from the text's first byte.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// State before a tile's first byte. Item 0 is all zero. There is one item more than tiles: it holds the state at the
// text's end.
// Example, tiles of 8 bytes:
// | a b , c d \n e f | , " g h i k l m | " \n 5
// | start of tile 1: record 1, column 0, record_begin 6, field_begin 6, open
// | start of tile 2: record 1, column 1, record_begin 6, field_begin 9, open, state 1 (inside quotes)
// | end of the text: record 2, column 0, record_begin 18, field_begin 18, open: the text's end ends this record
struct alignas(16) TileStart {
    u64 record;        // data records that end before (comment lines and blank lines are not counted)
    u64 record_begin;  // of the open record; if none is open, the tile's first byte, which may be a line end
    u64 field_begin;   // of the open field; after a separator, the byte that follows it
    u32 column;        // index of the open field: separators since the record began
    u8 state;          // by masks: 1 inside quotes, else 0; by the automaton: its state
    u8 open;           // 1 if a record has begun and not ended; if 0, a line end or nothing precedes the tile
    u8 reserved[2];
};
static_assert(sizeof(TileStart) == 32);

// Properties of a whole text; the union of all tiles.
enum FindFlag : u32 {
    FIND_REDO = 1,       // this search variant cannot read a byte of the text: its other results are invalid
    FIND_QUOTES = 2,     // the text has quotes
    FIND_STRAY = 4,      // a malformed quote, or text after a closing quote
    FIND_HIGH = 8,       // bytes outside ASCII
    FIND_OPEN = 16,      // the text ends inside a record, which counts
    FIND_UNCLOSED = 32,  // the text ends inside quotes
    FIND_COMMENT = 64,   // the text ends inside a comment line, which is no record
    FIND_UNFINISHED =
        128,            // the text ends within a delimiter that follows closing quotes: a malformed quote at its end
    FIND_RETURN = 256,  // plain dialects with universal line ends: carriage returns
    FIND_BREAK = 512    // a line ends inside a field; the automaton looks for it if line ends are universal
};

// Totals of a text. A last record without a line end counts, and so does its last field: the search adds them here. The
// conversion ends them at the text's end if the last TileStart is `open` and FIND_OPEN is set.
struct FindTotals {
    u64 records;
    u64 fields;       // of those records
    u64 blank_lines;  // that the dialect skips
    u64 comments;
    u64 bytes;
    u32 flags;
    u32 reserved;
};
static_assert(sizeof(FindTotals) == 48);

// A plain dialect: separators and line ends are single ASCII bytes, and there are no escapes or comments. Byte masks
// can read it (plain_masks.hpp). Masks also read a text of another dialect as long as none of its other special bytes
// occurs. Those are `watched`, and the search sets FIND_REDO when it finds one.
enum PlainFlag : u8 {
    PLAIN_UNIVERSAL = 1,   // LF, CR LF and CR all end a line; otherwise only `line_end` does
    PLAIN_SKIP_BLANK = 2,  // a line end at the start of a record is skipped
    PLAIN_DOUBLES = 4,     // two quotes inside quotes mean one quote
    PLAIN_QUOTES = 8,      // `quote` encloses fields
    PLAIN_WATCHES = 16     // `watched` holds special bytes
};
struct PlainDialect {
    u8 separator;
    u8 line_end;  // LF where universal
    u8 quote;     // the separator if the dialect has no quotes
    u8 flags;
    u8 watched[3];  // padded by repetition
    u8 other;       // an ordinary byte, used as padding where a tile has no text
};
static_assert(sizeof(PlainDialect) == 8);

// Delimiters and quotes of a dialect with lenient quotes (opening_quotes.cu).
struct LenientDialect {
    u8 separator[8];
    u8 line_end[8];
    u8 separator_length, line_end_length;
    u8 universal;
    u8 skips_spaces;
    u8 quote;
    u8 has_escape, escape;
    u8 doubles;  // two quotes inside quotes mean one
};
static_assert(sizeof(LenientDialect) == 24);

// `skew`: the text's address modulo 16.
HR_FN u64 tile_begin(u64 tile, u32 tile_bytes, u32 skew) { return tile == 0 ? 0 : tile * tile_bytes - skew; }
// A tile staged in shared memory with a halo of `halo_bytes` before it. Staged byte s is the text's byte s + origin.
// Staged bytes `begin` to `end` are the tile's bytes that lie in the text.
struct TileExtent {
    i64 origin;
    u32 begin, end;
};
HR_FN TileExtent extent_of(u64 tile, u32 tile_bytes, u32 halo_bytes, u32 skew, u64 bytes) {
    const u64 begin = tile_begin(tile, tile_bytes, skew), next = tile_begin(tile + 1, tile_bytes, skew);
    const i64 origin = static_cast<i64>(tile * tile_bytes) - skew - halo_bytes;
    const u64 end = next < bytes ? next : bytes;
    return {origin, static_cast<u32>(static_cast<i64>(begin) - origin),
            static_cast<u32>(static_cast<i64>(end) - origin)};
}
HR_FN u64 tile_count(u64 bytes, u32 tile_bytes, u32 skew) {
    return bytes == 0 ? 0 : (bytes + skew + tile_bytes - 1) / tile_bytes;
}

HR_END_NAMESPACE
