// What one tile comes to, read from one state; summaries of tiles are scanned (scan_summaries.cu), not the text.
#pragma once

#include "structure/gpu/tile_start.hpp"
#include "structure/reached.hpp"

HR_BEGIN_NAMESPACE

// Bits 0 to 7 of `flags` are FindFlags of what the tile holds, bits 8 to 15 those of a text that ends with it.
enum TallyFlag : u32 {
    TALLY_AT_END = 8,  // a shift
    TALLY_CLOSED = 1u << 16,
    TALLY_IDLE = 1u << 17,         // no record is open at its first byte
    TALLY_IDLE_BEHIND = 1u << 18,  // nor behind its last
    TALLY_ODD = 1u << 19,          // it holds an odd number of quotes
    TALLY_GUESS = 1u << 20         // what was told beside tallies took it to begin inside quotes
};

struct Tally {
    u64 record_begin;
    u64 field_begin;
    u32 column;
    u32 records;
    u32 separators;
    u32 blanks;
    u32 comments;
    u32 flags;
};
static_assert(sizeof(Tally) == 40);

HR_FN Reached reached_by(const Tally& tally) {
    return {tally.records, tally.record_begin, tally.field_begin, tally.column, (tally.flags & TALLY_CLOSED) != 0};
}

HR_END_NAMESPACE
