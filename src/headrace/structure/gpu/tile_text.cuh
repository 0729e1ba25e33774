// Shared by all search variants: loads vectors at the text's edges, and finds a tile's last record and field backwards.
#pragma once
#include "gpu/block/byte_masks.cuh"
#include "gpu/block/warp.cuh"
#include "structure/gpu/tile_start.hpp"
#include "structure/reached.hpp"

namespace headrace::structure {

// Return bytes [at, at + 16) of the text, padded with `before` and `after`.
HR_FN uint4 edge_vector(const u8* text, u64 bytes, i64 at, u8 before, u8 after) {
    u32 word[4] = {};
#pragma unroll
    for (u32 k = 0; k < 16; ++k) {
        const i64 place = at + k;
        const u32 byte = place < 0 ? before : static_cast<u64>(place) < bytes ? text[place] : after;
        word[k / 4] |= byte << (k % 4 * 8);
    }
    return {word[0], word[1], word[2], word[3]};
}

// Part of a tile as bit masks, 32 bytes a lane: last bytes of separators, last bytes of records, and first bytes of
// records.
struct DelimiterMasks {
    u32 separators, records, starts;
};

// Return the position of the last set bit over all lanes, 32 bits each; -1 if there is none.
HR_FN i32 last_of(u32 bits) {
    const u32 some = __ballot_sync(tile::all_lanes, bits != 0);
    if (some == 0) return -1;
    const u32 last = 31 - static_cast<u32>(__clz(static_cast<i32>(some)));
    return static_cast<i32>(last * 32 + 31 - tile::shuffle(static_cast<u32>(__clz(static_cast<i32>(bits))), last));
}
// Return the position of the first set bit; -1 if there is none.
HR_FN i32 first_of(u32 bits) {
    const u32 some = __ballot_sync(tile::all_lanes, bits != 0);
    if (some == 0) return -1;
    const u32 first = static_cast<u32>(__ffs(static_cast<i32>(some))) - 1;
    return static_cast<i32>(first * 32 + static_cast<u32>(__ffs(static_cast<i32>(tile::shuffle(bits, first)))) - 1);
}

// Where the last record and field begin, found by one warp that adds windows from the tile's end backwards. Usually the
// last window contains a record's end, and everything asked for follows it.
struct Trail {
    i64 record_begin = 0, field_begin = 0;
    u32 column = 0;  // separators after the last record's end, once that is found

    // Add the window at `begin`; return whether a record ends in it.
    HR_MEMBER bool add(const DelimiterMasks& window, i64 begin) {
        const i32 start = last_of(window.starts), separator = last_of(window.separators);
        const i32 record = last_of(window.records);
        if (start >= 0 && begin + start > record_begin) record_begin = begin + start;
        if (separator >= 0 && begin + separator >= field_begin) field_begin = begin + separator + 1;
        const i32 mine = static_cast<i32>(tile::lane() * 32);
        const u32 after = record < mine ? ~0u : record >= mine + 31 ? 0 : ~1u << (record - mine);
        column += __reduce_add_sync(tile::all_lanes, static_cast<u32>(__popc(window.separators & after)));
        return record >= 0;
    }

    // Return the result for a tile with these counts.
    HR_MEMBER Reached reached(u32 records, u32 separators) const {
        const i64 field = record_begin > field_begin ? record_begin : field_begin;
        return {records, static_cast<u64>(record_begin), static_cast<u64>(field), records == 0 ? separators : column,
                records != 0};
    }
};

HR_FN TileStart start_at(const Reached& reached, u64 begin, bool idle, u8 state) {
    TileStart entry = {reached.records, begin, begin, 0, state, !idle, {}};
    if (!idle) {
        entry.record_begin = reached.record_begin;
        entry.field_begin = reached.field_begin;
        entry.column = reached.column;
    }
    return entry;
}

HR_FN void add_flags(FindTotals* totals, u32 flags) {
    if ((flags & ~tile::load_relaxed(&totals->flags)) != 0) atomicOr(&totals->flags, flags);
}

}  // namespace headrace::structure
