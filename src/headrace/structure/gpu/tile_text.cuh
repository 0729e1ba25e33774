// What the searches for structure share: a tile's text in shared memory, and how far it has come, told from its end.
#pragma once
#include "gpu/block/byte_masks.cuh"
#include "gpu/block/warp.cuh"
#include "structure/gpu/tile_start.hpp"
#include "structure/reached.hpp"

namespace headrace {
namespace structure {

// Bytes [at, at + 16) of the text; where it has none, `before` or `behind` stands.
__device__ __forceinline__ uint4 edge_vector(const u8* text, u64 bytes, i64 at, u8 before, u8 behind) {
    u32 word[4] = {};
#pragma unroll
    for (u32 k = 0; k < 16; ++k) {
        const i64 place = at + k;
        const u32 byte = place < 0 ? before : static_cast<u64>(place) < bytes ? text[place] : behind;
        word[k / 4] |= byte << (k % 4 * 8);
    }
    return {word[0], word[1], word[2], word[3]};
}

// A part of a tile, so many bytes a lane, as bits: bytes that are separators (the last of each), that end records, and
// that are the first of records.
template <u32 bytes>
struct Window {
    u32 separators, records, starts;
};

// Place of the last bit of all lanes, of so many bytes each; -1 if there is none.
template <u32 bytes>
__device__ __forceinline__ i32 last_of(u32 bits) {
    const u32 some = __ballot_sync(tile::all_lanes, bits != 0);
    if (some == 0) return -1;
    const u32 last = 31 - static_cast<u32>(__clz(static_cast<i32>(some)));
    return static_cast<i32>(last * bytes + 31 - tile::shuffle(static_cast<u32>(__clz(static_cast<i32>(bits))), last));
}
// The same of the first.
template <u32 bytes>
__device__ __forceinline__ i32 first_of(u32 bits) {
    const u32 some = __ballot_sync(tile::all_lanes, bits != 0);
    if (some == 0) return -1;
    const u32 first = static_cast<u32>(__ffs(static_cast<i32>(some))) - 1;
    return static_cast<i32>(first * bytes + static_cast<u32>(__ffs(static_cast<i32>(tile::shuffle(bits, first)))) - 1);
}

// What the end of a tile says, by one warp, window by window backwards. Mostly the last window has the last record's
// end, and all that is asked for lies behind it.
struct Trail {
    i64 record_begin = 0, field_begin = 0;
    u32 column = 0;  // separators behind the last record's end, once that is found

    // Whether the window ends a record.
    template <u32 bytes>
    __device__ __forceinline__ bool add(const Window<bytes>& window, i64 begin) {
        const i32 start = last_of<bytes>(window.starts), separator = last_of<bytes>(window.separators);
        const i32 record = last_of<bytes>(window.records);
        if (start >= 0 && begin + start > record_begin) record_begin = begin + start;
        if (separator >= 0 && begin + separator >= field_begin) field_begin = begin + separator + 1;
        const i32 mine = static_cast<i32>(tile::lane() * bytes);
        const u32 behind = record < mine ? ~0u : record >= mine + 31 ? 0 : ~1u << (record - mine);
        column += __reduce_add_sync(tile::all_lanes, static_cast<u32>(__popc(window.separators & behind)));
        return record >= 0;
    }

    // Of a tile with these counts.
    __device__ __forceinline__ Reached reached(u32 records, u32 separators) const {
        const i64 field = record_begin > field_begin ? record_begin : field_begin;
        return {records, static_cast<u64>(record_begin), static_cast<u64>(field), records == 0 ? separators : column,
                records != 0};
    }
};

__device__ __forceinline__ TileEntry entry_at(const Reached& reached, u64 begin, bool idle, u8 state) {
    TileEntry entry = {reached.records, begin, begin, 0, state, !idle, {}};
    if (!idle) {
        entry.record_begin = reached.record_begin;
        entry.field_begin = reached.field_begin;
        entry.column = reached.column;
    }
    return entry;
}

__device__ __forceinline__ void add_flags(FindTotals* totals, u32 flags) {
    if ((flags & ~tile::load_relaxed(&totals->flags)) != 0) atomicOr(&totals->flags, flags);
}

}  // namespace structure
}  // namespace headrace
