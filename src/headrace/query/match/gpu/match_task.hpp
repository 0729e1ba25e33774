// Defines the arguments of the kernels that run automata.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace {

// The text is cut into chunks at addresses that are multiples of 16. Byte i of chunk c is position
// c * chunk + i - shift, where `shift` is the text's address modulo 16.
struct MatchTask {
    const u8* text;
    u64 size;
    u64 chunk;  // bytes of a chunk, a multiple of 32
    u64 chunks;
};

// Marks of the first and last bytes of matches, and their number in each tile. `begins` is null if they are counted
// only.
struct MatchMarks {
    u32* begins;
    u32* ends;
    u32* begin_counts;
    u32* end_counts;
    u64 tile;    // bytes of a tile, a multiple of a chunk
    u64* total;  // matches
};

}  // namespace headrace
