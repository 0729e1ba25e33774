// Declares the kernels that find record and field ends in one tile. A tile owns the records whose first byte lies in
// it.
#pragma once

#include "structure/dfa.hpp"

namespace headrace {

// Marks in TileIndex::record_last of records that are not data. A tile has fewer than 2^30 ends.
constexpr u32 COMMENT_RECORD = u32{1} << 31;
constexpr u32 BLANK_RECORD = u32{1} << 30;
constexpr u32 RECORD_INDEX = BLANK_RECORD - 1;

// Callbacks that classify lenient quotes by the text around them; empty for strict dialects. Positions count from the
// tile's first byte.
struct QuoteLook {
    void* context;
    // Return whether the quote at `at`, a field's first byte, opens the field.
    bool (*opens)(void* context, usize at);
    // Return whether the next run of quotes from `from` on that is not neutral closes a field opened before.
    bool (*closes_behind)(void* context, usize from);
    // Return the kind of the run that ends at `end` (QuoteRun of lenient.hpp), and where it begins.
    u8 (*run_before)(void* context, usize end, usize* begin);
};

// Index of a tile, filled range by range, and the state carried from one range to the next. Positions count from the
// tile's first byte. An end is the position of the byte that completes a separator or a line end.
struct TileIndex {
    u32* ends;           // of fields, including the last field of each record
    u32* record_starts;  // of the records that the tile owns
    u32* record_last;    // for each record, the index in `ends` of its last end, and marks
    u32* strays;         // malformed quotes, also in records of other tiles
    u64 end_count;
    u64 start_count;
    u64 record_count;
    u64 stray_count;
    u64 blank_lines;      // skipped blank lines whose line end lies in the tile
    u8 state;             // the automaton's state before the next byte
    bool free_of_quotes;  // set by the caller: the range has no quotes
    QuoteLook look;
    const u64* marks;  // lenient, or null: a bit for each byte at which the text changes between outside and inside
    bool has_quotes;
    bool has_escapes;
    bool has_high_bytes;  // bytes outside ASCII, in the range or in the block that follows it
};

// Result of `summarize`, besides the states.
struct Summary {
    bool has_quotes;
    u64 unresolved;  // bit s: the state after the text from state s has to be computed by `run`
};

// Effect of a text on every state before it: the state after it, and the data records that end in it. These exclude
// comment lines and blank lines. Lines end alike in all states.
struct StateCounts {
    u8 state[MAX_STATES];
    u64 records[MAX_STATES];
    u64 lines;
};

// Line feeds of a text, and whether it has other line ends, or blank lines after its first byte.
struct LineFeeds {
    u64 count;
    bool has_others;
};

struct FindKernels {
    // Compute the state map of n bytes: to[s] is the state after them from state s.
    Summary (*summarize)(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8* to);

    // Return the state after n bytes from one state that `summarize` left open.
    u8 (*run)(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8 state);

    // Append bytes [from, to) of the tile to the index. Records that begin at `limit` or later belong to the next tile.
    // Each array has room for to - from + 64 more items, and 64 bytes after `to` are readable.
    void (*index)(const Dialect& dialect, const u8* text, usize from, usize to, usize limit, TileIndex& index);

    // Counts for every state before the first n of `size` bytes, the rest of which follows the n bytes.
    void (*count)(const Dialect& dialect, const u8* text, usize n, usize size, const QuoteLook& look, StateCounts& to);

    // Count the line feeds of n bytes, of which some follow carriage returns.
    LineFeeds (*line_feeds)(const u8* text, usize n);
};

}  // namespace headrace
