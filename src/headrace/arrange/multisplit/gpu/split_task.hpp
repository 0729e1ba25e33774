// Defines the arguments of the multisplit kernels: chunks of keys, output positions, and columns of values.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace {

struct ChunkLayout {
    u64 count;   // keys
    u64 length;  // keys per chunk; the last chunk may be shorter
    u32 group;   // chunks per block
    u32 unused;
};

struct SplitPlaces {
    u64* starts;        // output position of each digit, for each group of chunks; with look-back for the whole input
    const u32* counts;  // keys of each digit in earlier chunks of the group, for each chunk
    u64 chunk;          // keys per chunk, a multiple of a tile
    void* memory;       // look-back: tile::Counters, and a state for each tile and digit, none of which has `epoch`
    u32 epoch;
    u32 group;  // chunks per group
};

// Columns of values; the items of a column have one width.
constexpr u32 max_columns = 8;

struct Columns {
    const void* from[max_columns];
    void* to[max_columns];
    u32 width[max_columns];
    u32 count;
    u32 unused;
};

}  // namespace headrace
