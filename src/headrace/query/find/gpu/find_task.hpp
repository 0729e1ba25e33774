// Defines the arguments and results of the kernels that find a pattern in a text.
//
// A mark is a bit for each position of the text, in the order of the positions. Bit `lead + shift + r` belongs to
// position r, where `shift` is the text's address modulo 16. A tile with few hits has a list in the place of its marks
// (hit_list.cuh). `is_listed` is then set in its count of hits.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace {

constexpr u32 is_listed = 1u << 31;

struct FindTask {
    const u8* text;
    u64 size;           // bytes of the text
    const u8* pattern;  // folded if case is ignored; its cycle goes on for 32 bytes after it, or zeros follow
    u64 length;         // bytes of the pattern, at most `size`
    u64 period;         // of the pattern, if runs of it can be found in a warp's memory (runs.cuh); otherwise 0
    u64 cycle;          // smallest period of the pattern, which may be its length, if texts are compared with it; or 0
    u64 budget;         // units of verification, after which a linear algorithm is to search the text
    u32 prints[4];      // fingerprints of the windows of the pattern; of a short one the bytes, repeated
    u32 compared[4];    // short pattern: bits of a byte that are compared, repeated
    u32 letter_bits;    // set in each word of the text before it is compared: 0x20202020 if case is ignored
    u32 lead;           // bit at which an occurrence at a vector's first byte is found (filter.cuh)
    u32 ignore_case;
};

struct FindResult {
    u64 count;  // hits
    u64 first;  // smallest position; all bits if there is none
    u64 spent;  // units of verification beyond those that each warp may spend; more than the budget: no result
};

// Marks or lists of the tiles of a text, and the memory for their positions.
struct FoundMarks {
    const u32* words;
    const u32* counts;  // hits of each tile, and `is_listed`
    u64* sums;          // hits of each group of tiles
    u64 tiles;
    u64 first;  // position of the first mark, modulo 2^64
    u64* positions;
};

// The automaton of Knuth, Morris and Pratt.
struct FindAutomaton {
    const u32* borders;  // borders[i]: length of the longest proper border of the first i bytes
    u64 chunk;           // positions per thread
};

// A text whose hits, which do not overlap, are replaced.
struct ReplaceTask {
    const u8* text;
    const u8* replacement;
    const u64* hits;  // ascending positions
    u64 hit_count;
    u64 length;  // bytes of the pattern
    u64 replacement_length;
    u64 result_size;
};

// A text and the hits of many patterns in it. A hit's key is its position times 2^pattern_bits plus the pattern.
struct SetTask {
    const u8* text;
    u64 size;
    u64* counts;   // of each pattern; null if hits are listed
    u64* keys;     // in no order
    u64 capacity;  // keys that are written
    u64* total;    // hits, also those that are not written
    u32 pattern_bits;
    u32 block_counts;  // patterns, if each block counts their hits in shared memory first; otherwise 0
};

}  // namespace headrace
