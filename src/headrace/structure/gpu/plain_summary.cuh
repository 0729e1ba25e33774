// Builds the summary of a plain dialect's tile from its threads' counts and from its last (or first) record.
#pragma once
#include "structure/gpu/plain_counts.cuh"
#include "structure/gpu/tile_summary.hpp"

namespace headrace::structure {

// For a block of `threads` threads, each of which reads `rows` vectors. `quoted`: the dialect has quotes.
template <u32 threads, u32 rows, bool quoted>
struct PlainSummaries {
    using Tile = PlainTile<threads, rows>;
    static constexpr u32 warps = threads / tile::lanes;
    static_assert(Tile::bytes <= 32768 && warps >= 1);  // two counts share a word

    // Return the delimiters of row `row` outside quotes. `inside` is the quote state at one end of the row (its last
    // byte if `backwards`, else the byte before it). The function replaces it by that at the other end.
    HR_MEMBER static DelimiterMasks<16> look(const Tile& staged, u32 row, bool& inside, bool backwards,
                                             const Patterns& patterns) {
        const TextVector place = staged.place(row * tile::lanes + tile::lane());
        Masks masks;
        if (find_ends(masks, place, patterns)) resolve_runs(masks, place, patterns);
        u32 outside = 0xFFFF,
            outside_before = 0xFFFF;  // masks of the bytes that are, and whose predecessor is, outside quotes
        if constexpr (quoted) {
            const tile::Bits quotes = find_byte(place, patterns.quote);
            const Parities parities(quotes);
            const bool other_end = inside != parities.all();
            outside ^= tile::gathered(find_inside(quotes, (backwards ? other_end : inside) != parities.before()));
            outside_before = outside ^ tile::gathered(quotes);
            inside = other_end;
        }
        return {tile::gathered(masks.separators) & outside, tile::gathered(masks.records) & outside,
                tile::gathered(find_starts(masks, patterns)) & outside_before};
    }

    // One warp: find where the tile's last record and field begin, given its counts. Rows are read backwards, and
    // usually the last one suffices. If no record ends in the tile, one can begin in it only after leading line ends,
    // so the second loop reads forwards.
    HR_MEMBER static Reached reach(const Tile& staged, i64 first, u32 records, u32 separators, bool idle,
                                   bool inside_at_end, const Patterns& patterns) {
        Trail trail;
        bool inside = inside_at_end;
        bool found = records == 0 && separators == 0;
        for (u32 row = Tile::all_rows; row-- > 0 && !found;) {
            const bool ended = trail.add(look(staged, row, inside, true, patterns), first + row * Tile::row_bytes);
            found = records == 0 ? trail.field_begin > 0 : ended;
        }
        inside = false;
        found = records != 0 || !idle;
        for (u32 row = 0; row < Tile::all_rows && !found; ++row) {
            const i32 start = first_of<16>(look(staged, row, inside, false, patterns).starts);
            if (start < 0) continue;
            const i64 at = first + row * Tile::row_bytes + start;
            if (at > trail.record_begin) trail.record_begin = at;
            found = true;
        }
        return trail.reached(records, separators);
    }

    // Counts by warp. Of each pair, [0] is all and [1] is outside quotes if the warp's part begins outside.
    struct PlainWarpCounts {
        u32 ends[2][warps];  // separators in the upper half, record ends in the lower
        u32 blanks[2][warps];
        u32 strays[warps];  // malformed quotes. Bit 0: if the warp's part begins outside quotes; bit 1: if inside
        u32 odd[warps];     // 1 if the part has an odd number of quotes
    };

    HR_MEMBER static u32 ends_of(const SideCounts& side) {
        const u32 records = (side.line_ends - side.no_ends) >> 7;
        return __reduce_add_sync(tile::all_lanes, (side.separators >> 7) << 16 | records);
    }
    HR_MEMBER static void share(PlainWarpCounts& shared, const PlainCounts& counts, bool odd) {
        const u32 all = ends_of(counts.all);
        const u32 blanks = __reduce_add_sync(tile::all_lanes, counts.all.blanks >> 7);
        u32 outside = 0, blanks_outside = 0, strays = 0;
        if constexpr (quoted) {
            outside = ends_of(counts.outside);
            blanks_outside = __reduce_add_sync(tile::all_lanes, counts.outside.blanks >> 7);
            strays = (counts.outside.strays != 0 ? 1u : 0u) | (counts.all.strays != 0 ? 2u : 0u);
            strays = __reduce_or_sync(tile::all_lanes, strays);
        }
        if (tile::lane() != 0) return;
        const u32 warp = tile::warp();
        shared.ends[0][warp] = all;
        shared.ends[1][warp] = outside;
        shared.blanks[0][warp] = blanks;
        shared.blanks[1][warp] = blanks_outside;
        shared.strays[warp] = strays;
        shared.odd[warp] = odd;
    }

    // One warp: return the tile's summary from inside or outside quotes. Lane k combines warp k's counts, on the side
    // that the parity of the quotes before that warp selects.
    HR_MEMBER static TileSummary summary_from(bool inside, const Tile& staged, const PlainWarpCounts& shared, i64 first,
                                              u64 bytes, const Patterns& patterns) {
        const bool has = tile::lane() < warps;
        const u32 mine = has ? tile::lane() : 0;
        const u32 odd = __ballot_sync(tile::all_lanes, has && shared.odd[mine] != 0);
        const bool odd_before = (__popc(odd & ((1u << tile::lane()) - 1)) & 1) != 0;
        const bool from_inside = inside != odd_before;
        u32 ends = shared.ends[0][mine], blanks = shared.blanks[0][mine], stray = 0;
        if constexpr (quoted) {
            const u32 outside = shared.ends[1][mine], blanks_outside = shared.blanks[1][mine];
            ends = from_inside ? ends - outside : outside;
            blanks = from_inside ? blanks - blanks_outside : blanks_outside;
            stray = shared.strays[mine] >> (from_inside ? 1 : 0) & 1;
        }
        const u32 both = __reduce_add_sync(tile::all_lanes, has ? ends : 0);
        TileSummary tally = {};
        tally.blanks = __reduce_add_sync(tile::all_lanes, has ? blanks : 0);
        const bool strays = __any_sync(tile::all_lanes, has && stray != 0) != 0;
        // Padding before the text consists of line ends, which are not counted.
        const u32 not_there = first < 0 && !inside ? static_cast<u32>(-first) : 0;
        tally.records = (both & 0xFFFF) - (patterns.skip_blank ? 0 : not_there);
        tally.blanks -= patterns.skip_blank ? not_there : 0;
        tally.separators = both >> 16;

        const bool inside_at_end = inside != ((__popc(odd) & 1) != 0);
        const bool idle = patterns.ends_line(staged.byte(-1)) && !inside;
        const Reached reached = reach(staged, first, tally.records, tally.separators, idle, inside_at_end, patterns);
        tally.record_begin = reached.record_begin;
        tally.field_begin = reached.field_begin;
        tally.column = reached.column;
        const i64 left = static_cast<i64>(bytes) - first;
        const i32 last = static_cast<i32>(left < Tile::bytes ? left : Tile::bytes) - 1;
        const bool ended = patterns.ends_line(staged.byte(last)) && !inside_at_end;
        tally.flags = (reached.closed != 0 ? u32{SUMMARY_CLOSED} : 0u) | (idle ? u32{SUMMARY_IDLE} : 0u) |
                      (ended ? u32{SUMMARY_IDLE_AFTER} : u32{FIND_OPEN} << SUMMARY_AT_END) |
                      (inside_at_end ? u32{FIND_UNCLOSED} << SUMMARY_AT_END : 0u) |
                      ((__popc(odd) & 1) != 0 ? u32{SUMMARY_ODD_QUOTES} : 0u) | (strays ? u32{FIND_STRAY} : 0u);
        return tally;
    }
};

// Return the FindFlags of the bytes that a thread has read.
HR_FN u32 found_in(const PlainCounts& counts, const PlainDialect& dialect) {
    u32 flags = (counts.high & tile::top_bits) != 0 ? u32{FIND_HIGH} : 0u;
    if ((dialect.flags & PLAIN_WATCHES) && (~counts.unwatched & tile::top_bits) != 0) flags |= FIND_REDO;
    if (counts.quotes != 0) flags |= FIND_QUOTES;
    if ((dialect.flags & PLAIN_UNIVERSAL) && (~counts.no_returns & tile::top_bits) != 0) flags |= FIND_RETURN;
    return flags;
}

// One warp: add its threads' flags to the totals.
HR_FN void add_found(FindTotals* totals, u32 flags) {
    flags = __reduce_or_sync(tile::all_lanes, flags);
    if (flags != 0 && tile::lane() == 0) add_flags(totals, flags);
}

}  // namespace headrace::structure
