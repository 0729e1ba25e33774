// Finding record and field ends in one tile: the kernels' interface. A tile owns the records whose first byte lies in
// it.
#pragma once

#include "structure/dfa.hpp"

namespace headrace {

// Marks, in TileIndex::record_last, of records that are no rows. The ends of one tile are fewer than 2^30.
constexpr u32 COMMENT_RECORD = u32{1} << 31;
constexpr u32 BLANK_RECORD = u32{1} << 30;
constexpr u32 RECORD_INDEX = BLANK_RECORD - 1;

// What lenient quotes mean, by the text around them; empty for strict dialects.
struct QuoteLook {
    void* context;
    // Whether the quote at `at`, a field's first byte, opens it.
    bool (*opens)(void* context, usize at);
    // Whether a field that was opened before `from` is closed by the next run of quotes that is not neutral.
    bool (*closes_behind)(void* context, usize from);
    // The run that ends at `end`: its kind (lenient.hpp's QuoteRun), and where it begins.
    u8 (*run_before)(void* context, usize end, usize* begin);
};

// What finding has written so far, and what it must remember from one range of a tile to the next. Positions count from
// the tile's first byte. An end is the position of the byte that completes a separator or a line end.
struct TileIndex {
    u32* ends;           // of fields, the last field of a record included
    u32* record_starts;  // of the records that the tile owns
    u32* record_last;    // per record, the index in `ends` of its last end, and its marks
    u32* strays;         // malformed quotes, of any tile's records
    u64 end_count;
    u64 start_count;
    u64 record_count;
    u64 stray_count;
    u64 blank_lines;      // left out between records, by the tile that has their line end
    u8 state;             // of the automaton, before the next byte
    bool free_of_quotes;  // said by the caller: the range's bytes hold no quote
    QuoteLook look;
    const u64* marks;  // lenient, where not null: a bit for each byte from which on text is inside or outside quotes
    bool has_quotes;
    bool has_high_bytes;  // bytes outside ASCII, here or in the block behind
};

// What is known of some text beside its states.
struct Summary {
    bool has_quotes;
    u64 unsettled;  // bit s: the state after the text from state s is left to `run`
};

// What a text does to every state before it: the state after it, and the data records that end in it (neither comment
// lines nor blank lines). Lines end alike in all states.
struct StateCounts {
    u8 state[MAX_STATES];
    u64 records[MAX_STATES];
    u64 lines;
};

struct FindKernels {
    // The state after the n bytes for every state before them: to[s] for s < states.
    Summary (*summarize)(const Dialect& dialect, const u8* text, usize n, const QuoteLook& look, u8* to);

    // The same from one state that was left unsettled.
    u8 (*run)(const Dialect& dialect, const u8* text, usize n, u8 state);

    // Adds what bytes [from, to) of the tile hold. Records that begin at `limit` or later belong to the next tile.
    // `index` has room for to - from more items, and 64, in each array; 64 bytes behind `to` are readable.
    void (*index)(const Dialect& dialect, const u8* text, usize from, usize to, usize limit, TileIndex& index);

    // Counts for every state before the first n of `size` bytes, the rest of which follows the n bytes.
    void (*count)(const Dialect& dialect, const u8* text, usize n, usize size, const QuoteLook& look, StateCounts& to);
};

}  // namespace headrace
