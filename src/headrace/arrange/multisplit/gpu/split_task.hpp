// Defines the arguments of the multisplit kernels: chunks of keys, output positions, limits of buckets, and columns of
// values.
#pragma once
#include "core/cpu/portable.hpp"

namespace headrace {

// The highest bucket of a digit, or the number of buckets of a computed one.
struct BucketLimit {
    u32 value;
    u32 unused;
};

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
