// Summary of one tile, read from one start state: counts, and where its last record and field begin. The scan over
// tiles (scan_summaries.cu) reads these 40 bytes a tile instead of the text.
#pragma once

#include "structure/gpu/tile_start.hpp"
#include "structure/reached.hpp"

HR_BEGIN_NAMESPACE

// Bits 0 to 7 of `flags` are FindFlags of the tile's bytes. Bits 8 to 15 are FindFlags that apply only if the text ends
// with this tile.
enum SummaryFlag : u32 {
    SUMMARY_AT_END = 8,                // a shift
    SUMMARY_CLOSED = 1u << 16,         // a record ends in it
    SUMMARY_IDLE = 1u << 17,           // no record is open before its first byte
    SUMMARY_IDLE_AFTER = 1u << 18,     // no record is open after its last byte
    SUMMARY_ODD_QUOTES = 1u << 19,     // it holds an odd number of quotes
    SUMMARY_GUESSED_QUOTED = 1u << 20  // summarize_rows measured its strings from inside quotes
};

struct TileSummary {
    u64 record_begin;  // first byte of the last record that begins in the tile; 0 if none does
    u64 field_begin;   // first byte of the last field that begins in the tile; 0 if none does
    u32 column;        // separators after the last record end, or all of them if no record ends
    u32 records;       // data records that end in the tile
    u32 separators;    // fields that end in the tile, last fields of records not counted
    u32 blanks;        // blank lines that the dialect skips
    u32 comments;      // comment lines that end in the tile
    u32 flags;
};
static_assert(sizeof(TileSummary) == 40);

HR_FN Reached reached_by(const TileSummary& tally) {
    return {tally.records, tally.record_begin, tally.field_begin, tally.column, (tally.flags & SUMMARY_CLOSED) != 0};
}

HR_END_NAMESPACE
