// Defines the arguments of the kernels that run automata.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace {

// The text is cut into tiles at addresses that are multiples of 16. Byte i of tile t is position
// t * HR_TILE + i - shift, where `shift` is the text's address modulo 16.
struct MatchTask {
    const u8* text;
    u64 size;
    u64 tiles;
    u8* symbols;      // of each byte of the tiles, from the backward reading for the forward one
    const u8* pairs;  // symbol by the class of a byte and that of the next one, if there is no backward reading
    u32 outside;      // class of bytes of the tiles outside the text, which change no state, if steps are joined
};

// A reading of the text in one direction. Tiles and chunks have numbers in the order of the reading.
struct MatchReading {
    const u16* steps;  // by row and state before: state after in the lowest 8 bits
    u8* maps;          // state map of each tile
    u32* stages;       // the next tile's number, then the stage of each tile, all 0 before the launch
    u32 step_count;
    u32 states;
    u32 chunk_bits;  // logarithm of the bytes of a chunk, which are a multiple of 32
    u32 first;       // state before the first tile
};

// Marks of the first and last bytes of matches, and their number in each tile. `begins` is null if they are counted
// only.
struct MatchMarks {
    u32* begins;
    u32* ends;
    u32* begin_counts;
    u32* end_counts;
    u64* total;  // matches
};

}  // namespace headrace
