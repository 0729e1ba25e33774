// Summarizes a tile of a plain dialect from bit masks, 32 bytes a word. Logic on neighbouring bytes costs an eighth of
// that on masks of a byte each, and the text itself need not be kept.
//
// Example: a,"b⏎c"⏎ has separators 0b00000010, lines 0b10010000 and quotes 0b01000100. A byte is inside quotes if the
// number of quotes up to it is odd: 0b00111100 if the tile begins outside. So the first line end ends no record. Each
// thread owns adjacent words. Whether a warp's part begins inside quotes is known once all warps have counted quotes.
#pragma once
#include "structure/gpu/plain_bytes.cuh"
#include "structure/gpu/tile_summary.hpp"

namespace headrace::structure {

// Bit masks of a tile in shared memory. Each pointer is to the tile's first word, aligned to 16 bytes; masks of the
// halo before the tile precede it.
struct WordTile {
    u32* separators;
    u32* lines;    // line ends, inside and outside quotes
    u32* quotes;   // null if the dialect has no quotes
    u32* records;  // line ends that end a record; valid after `share`, like `inside`
    u32* inside;   // bytes inside quotes if the warp's part begins outside
};

// Store the masks of 16 bytes. `vector` counts from the tile's first.
template <bool quoted>
HR_FN void note_vector(const WordTile& words, i32 vector, uint4 bytes, const Patterns& patterns, PlainBytes& read) {
    const u32 word[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
    tile::Bits separators, lines, quotes;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const Delimiters found(word[k], patterns);
        separators.word[k] = found.separators;
        lines.word[k] = found.line_ends;
        if constexpr (quoted) quotes.word[k] = tile::equals(word[k], patterns.quote);
        read.high |= word[k];
        read.no_returns &= found.no_returns | word[k];
    }
    reinterpret_cast<u16*>(words.separators)[vector] = static_cast<u16>(tile::gather(separators));
    reinterpret_cast<u16*>(words.lines)[vector] = static_cast<u16>(tile::gather(lines));
    if constexpr (quoted) {
        const u32 found = tile::gather(quotes);
        reinterpret_cast<u16*>(words.quotes)[vector] = static_cast<u16>(found);
        read.quotes |= found;
    }
}

// Calls `note(v, bytes)` for each vector of a tile that begins at `origin`; threads take turns. Bytes outside the text
// are `other`.
template <u32 vectors, u32 threads, u32 in_flight, class Note>
HR_FN void note_vectors(const u8* text, u64 size, i64 origin, u8 other, const Note& note) {
    if (origin >= 0 && static_cast<u64>(origin) + 16 * vectors <= size) {
        const uint4* const from = reinterpret_cast<const uint4*>(text + origin);
#pragma unroll in_flight
        for (u32 v = threadIdx.x; v < vectors; v += threads) note(v, tile::load_streaming(from + v));
    } else {
#pragma unroll 1
        for (u32 v = threadIdx.x; v < vectors; v += threads)
            note(v, edge_vector(text, size, origin + 16 * i64{v}, other, other));
    }
}

// For a block of `threads` threads and a tile of `tile_words` words.
template <u32 threads, u32 tile_words, bool quoted>
struct WordSummaries {
    static constexpr u32 own = (tile_words + threads - 1) / threads;  // the last threads may have fewer
    static constexpr u32 warps = threads / tile::lanes;
    static constexpr u32 states = quoted ? 2 : 1;
    static_assert(tile_words % tile::lanes == 0 && tile_words * 32 <= 32768);  // two counts share a word

    // Position of the tile in its text.
    struct Where {
        const u8* text;
        i64 first;  // the tile's first byte; negative if the text begins inside the tile
        u32 end;    // end of the tile's bytes that lie in the text
    };

    // A thread's words. `inside` assumes that its warp's part begins outside quotes.
    struct Own {
        u32 separators[own], records[own], quotes[own], inside[own];
    };

    // Counts by warp. Of each pair, [0] is all and [1] is outside quotes if the warp's part begins outside.
    struct WordWarpCounts {
        u32 ends[2][warps];  // separators in the upper half, record ends in the lower
        u32 blanks[2][warps];
        u32 strays[warps];  // malformed quotes. Bit 0: if the warp's part begins outside quotes; bit 1: if inside
        u32 runs[warps];    // the same for line ends that end no record
        u32 odd[warps];     // 1 if the part has an odd number of quotes
    };

    // Return in bit 0 whether a line end (or the text's start) precedes the word's first byte.
    HR_MEMBER static u32 line_before(const WordTile& words, const Where& where, u32 word) {
        if (word == 0 && where.first <= 0) return 1u << static_cast<u32>(-where.first);
        return words.lines[static_cast<i32>(word) - 1] >> 31;
    }

    // Return those of `runs` (line ends after line ends) that are the LF of CR LF.
    HR_MEMBER static u32 completing(const Where& where, u32 word, u32 runs) {
        u32 found = 0;
        for (u32 left = runs; left != 0; left &= left - 1) {
            const u32 bit = static_cast<u32>(__ffs(static_cast<i32>(left))) - 1;
            const i64 at = where.first + 32 * word + bit;
            if (at > 0 && where.text[at] == '\n' && where.text[at - 1] == '\r') found |= 1u << bit;
        }
        return found;
    }

    // Read a thread's words, decide which line ends end records, and store the warp's counts in `shared`.
    HR_MEMBER static Own share(WordWarpCounts& shared, const WordTile& words, const Where& where,
                               const Patterns& patterns) {
        const u32 first = threadIdx.x * own;
        Own mine;
        u32 lines[own], odd = 0;
        const bool some = first < tile_words;
        tile::load_part<tile_words>(words.separators, first, mine.separators);
        tile::load_part<tile_words>(words.lines, first, lines);
        if constexpr (quoted) tile::load_part<tile_words>(words.quotes, first, mine.quotes);
#pragma unroll
        for (u32 i = 0; i < own; ++i) odd ^= quoted ? mine.quotes[i] : 0;
        const u32 odd_lanes = quoted ? __ballot_sync(tile::all_lanes, (__popc(odd) & 1) != 0) : 0;
        bool inside = (__popc(odd_lanes & ((1u << tile::lane()) - 1)) & 1) != 0;
        u32 line_carry = some ? line_before(words, where, first) : 0;
        u32 carry = line_carry | (some ? words.separators[static_cast<i32>(first) - 1] >> 31 : 0);
        u32 quote_carry = quoted && some ? words.quotes[static_cast<i32>(first) - 1] >> 31 : 0;
        u32 all = 0, outside = 0, blanks = 0, blanks_outside = 0, from_outside = 0, from_inside = 0, runs = 0;
#pragma unroll
        for (u32 i = 0; i < own; ++i) {
            const u32 separators = mine.separators[i], quotes = quoted ? mine.quotes[i] : 0;
            const u32 within = quoted ? tile::prefix_parities(quotes) ^ (inside ? ~0u : 0) : 0;
            const u32 follow = lines[i] & (lines[i] << 1 | line_carry);
            line_carry = lines[i] >> 31;
            u32 records = lines[i];
            if (follow != 0) {
                const u32 completes = patterns.universal ? completing(where, first + i, follow) : 0;
                const u32 blank = patterns.skip_blank ? follow & ~completes : 0;
                records &= ~(completes | blank);
                blanks += static_cast<u32>(__popc(blank));
                blanks_outside += static_cast<u32>(__popc(blank & ~within));
                const u32 none = lines[i] & ~records;
                runs |= ((none & ~within) != 0 ? 1u : 0u) | ((none & within) != 0 ? 2u : 0u);
            }
            mine.records[i] = records;
            mine.inside[i] = within;
            all += static_cast<u32>(__popc(separators)) << 16 | static_cast<u32>(__popc(records));
            if constexpr (quoted) {
                outside +=
                    static_cast<u32>(__popc(separators & ~within)) << 16 | static_cast<u32>(__popc(records & ~within));
                const u32 delimiters = separators | lines[i];
                const u32 behind_delimiter = delimiters << 1 | carry, behind_quote = quotes << 1 | quote_carry;
                carry = delimiters >> 31;
                quote_carry = quotes >> 31;
                // Bytes after the text are not malformed.
                const u32 at = 32 * (first + i);
                const u32 there = at + 32 <= where.end ? ~0u : at >= where.end ? 0 : (1u << (where.end - at)) - 1;
                // An opening quote that follows neither a delimiter nor a quote; a byte after a closing quote that is
                // neither.
                const u32 if_inside = quotes & ~(behind_delimiter | (behind_quote & patterns.doubles)) & there;
                const u32 if_outside = behind_quote & ~(delimiters | quotes) & there;
                from_outside |= (if_inside & within) | (if_outside & ~within);
                from_inside |= (if_inside & ~within) | (if_outside & within);
                inside = within >> 31 != 0;
            }
        }
        tile::store_part<tile_words>(words.records, first, mine.records);
        const u32 strays = (from_outside != 0 ? 1u : 0u) | (from_inside != 0 ? 2u : 0u);
        all = __reduce_add_sync(tile::all_lanes, all);
        blanks = __reduce_add_sync(tile::all_lanes, blanks);
        const u32 bits = __reduce_or_sync(tile::all_lanes, strays | runs << 2);
        if constexpr (quoted) {
            outside = __reduce_add_sync(tile::all_lanes, outside);
            blanks_outside = __reduce_add_sync(tile::all_lanes, blanks_outside);
        } else {
            outside = all;
            blanks_outside = blanks;
        }
        if (tile::lane() == 0) {
            const u32 warp = tile::warp();
            shared.ends[0][warp] = all;
            shared.ends[1][warp] = outside;
            shared.blanks[0][warp] = blanks;
            shared.blanks[1][warp] = blanks_outside;
            shared.strays[warp] = bits & 3;
            shared.runs[warp] = bits >> 2;
            shared.odd[warp] = static_cast<u32>(__popc(odd_lanes)) & 1;
        }
        return mine;
    }

    // The warps' counts, one warp a lane. Requires a barrier after `share`.
    struct Sides {
        u32 odd;   // bit k: warp k has an odd number of quotes
        u32 mine;  // the lane's warp; warp 0 in surplus lanes
        bool has;
        bool odd_before;  // the number of quotes before that warp is odd

        HR_MEMBER explicit Sides(const WordWarpCounts& shared) : has(tile::lane() < warps) {
            mine = has ? tile::lane() : 0;
            odd = quoted ? __ballot_sync(tile::all_lanes, has && shared.odd[mine] != 0) : 0;
            odd_before = (__popc(odd & ((1u << mine) - 1)) & 1) != 0;
        }
        // Return whether the number of quotes before this thread's warp is odd.
        HR_MEMBER bool turned() const { return (__popc(odd & ((1u << tile::warp()) - 1)) & 1) != 0; }
        // Return whether a warp has its bit set, given the side on which the tile begins.
        HR_MEMBER bool any(const u32 (&bits)[warps], bool inside) const {
            return __any_sync(tile::all_lanes, has && (bits[mine] >> (inside != odd_before ? 1 : 0) & 1) != 0) != 0;
        }
    };

    // Return the words from `base` on, one a lane, as a window.
    HR_MEMBER static DelimiterMasks look(const WordTile& words, const Where& where, u32 base, bool inside,
                                         const Patterns& patterns) {
        const u32 word = base + tile::lane();
        const u32 lines = words.lines[word], records = words.records[word], side = inside ? ~0u : 0;
        const u32 within = quoted ? words.inside[word] ^ side : 0;
        const u32 before = quoted ? (word == 0 ? side : words.inside[word - 1] ^ side) >> 31 : 0;
        const u32 after = lines << 1 | line_before(words, where, word);
        const u32 none = patterns.skip_blank ? lines : lines & ~records;
        return {words.separators[word] & ~within, records & ~within, after & ~none & ~(within << 1 | before)};
    }

    // One warp: find where the tile's last record and field begin, given its counts. If no record ends in the tile, one
    // can begin in it only after leading line ends.
    HR_MEMBER static Reached reach(const WordTile& words, const Where& where, u32 records, u32 separators, bool idle,
                                   bool inside, const Patterns& patterns) {
        Trail trail;
        bool found = records == 0 && separators == 0;
        for (u32 base = tile_words; base != 0 && !found;) {
            base -= tile::lanes;
            const bool ended = trail.add(look(words, where, base, inside, patterns), where.first + 32 * base);
            found = records == 0 ? trail.field_begin > 0 : ended;
        }
        found = records != 0 || !idle;
        for (u32 base = 0; base < tile_words && !found; base += tile::lanes) {
            const i32 start = first_of(look(words, where, base, inside, patterns).starts);
            if (start < 0) continue;
            const i64 at = where.first + 32 * base + start;
            if (at > trail.record_begin) trail.record_begin = at;
            found = true;
        }
        return trail.reached(records, separators);
    }

    // One warp: return the tile's summary from inside or outside quotes.
    HR_MEMBER static TileSummary summary_from(bool inside, const WordTile& words, const WordWarpCounts& shared,
                                              const Sides& sides, const Where& where, const Patterns& patterns) {
        const bool from_inside = inside != sides.odd_before;
        const u32 outside = shared.ends[1][sides.mine], blanks_outside = shared.blanks[1][sides.mine];
        const u32 ends = from_inside ? shared.ends[0][sides.mine] - outside : outside;
        const u32 blanks = from_inside ? shared.blanks[0][sides.mine] - blanks_outside : blanks_outside;
        const u32 both = __reduce_add_sync(tile::all_lanes, sides.has ? ends : 0);
        TileSummary tally = {};
        tally.blanks = __reduce_add_sync(tile::all_lanes, sides.has ? blanks : 0);
        tally.records = both & 0xFFFF;
        tally.separators = both >> 16;
        const bool strays = quoted && sides.any(shared.strays, inside), odd = (__popc(sides.odd) & 1) != 0;
        const bool idle = line_before(words, where, 0) != 0 && !inside;
        const Reached reached = reach(words, where, tally.records, tally.separators, idle, inside, patterns);
        tally.record_begin = reached.record_begin;
        tally.field_begin = reached.field_begin;
        tally.column = reached.column;
        const u32 last = where.end - 1;
        const bool inside_at_end = inside != odd;
        const bool ended = (words.lines[last / 32] >> (last % 32) & 1) != 0 && !inside_at_end;
        tally.flags = (reached.closed != 0 ? u32{SUMMARY_CLOSED} : 0u) | (idle ? u32{SUMMARY_IDLE} : 0u) |
                      (ended ? u32{SUMMARY_IDLE_AFTER} : u32{FIND_OPEN} << SUMMARY_AT_END) |
                      (inside_at_end ? u32{FIND_UNCLOSED} << SUMMARY_AT_END : 0u) |
                      (odd ? u32{SUMMARY_ODD_QUOTES} : 0u) | (strays ? u32{FIND_STRAY} : 0u);
        return tally;
    }
};

}  // namespace headrace::structure
