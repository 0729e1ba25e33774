// Counts the delimiters in 16 bytes of a plain dialect, on both sides of quotes.
#pragma once
#include "structure/gpu/plain_masks.cuh"

namespace headrace::structure {

// A thread's counts on one side of quotes. The count of a mask adds 128 for each byte (bit 7 of each byte is summed).
struct SideCounts {
    u32 separators = 0, line_ends = 0;  // 128 each
    u32 no_ends = 0;                    // line ends that end no record, 128 each
    u32 blanks = 0;                     // those of them that end a skipped blank line, 128 each
    u32 strays = 0;                     // malformed quotes; nonzero if there are any
};
struct PlainCounts {
    SideCounts all;        // both sides; `strays` if the warp's part begins inside quotes
    SideCounts outside;    // outside quotes if the warp's part begins outside
    u32 unwatched = ~0u;   // bit 7 of a byte is 0 if a watched byte occurred there
    u32 no_returns = ~0u;  // the same for carriage returns
    u32 high = 0, quotes = 0;
};

// Count the line ends that end no record: those directly after another line end.
template <bool quoted>
HR_FN void count_runs(PlainCounts& counts, const TextVector& place, const Patterns& patterns,
                      const tile::Bits& inside) {
    Masks masks;
    find_ends(masks, place, patterns);
    resolve_runs(masks, place, patterns);
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const u32 no_ends = masks.line_ends.word[k] & ~masks.records.word[k], blanks = masks.blanks.word[k];
        counts.all.no_ends = tile::add_bytes(no_ends, counts.all.no_ends);
        counts.all.blanks = tile::add_bytes(blanks, counts.all.blanks);
        if constexpr (quoted) {
            counts.outside.no_ends = tile::add_bytes(no_ends & ~inside.word[k], counts.outside.no_ends);
            counts.outside.blanks = tile::add_bytes(blanks & ~inside.word[k], counts.outside.blanks);
        }
    }
}

// Count a vector that lies entirely inside or outside quotes.
template <bool quoted>
HR_FN void count_plainly(PlainCounts& counts, const TextVector& place, const Patterns& patterns, bool inside) {
    u32 before = patterns.ends_line(place.before) ? tile::top_bits : 0, runs = 0;
    u32 separators = 0, line_ends = 0;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const Delimiters found(place.word[k], patterns);
        runs |= found.line_ends & tile::following(before, found.line_ends);
        before = found.line_ends;
        separators = tile::add_bytes(found.separators, separators);
        line_ends = tile::add_bytes(found.line_ends, line_ends);
        counts.high |= place.word[k];
        counts.no_returns &= found.no_returns | place.word[k];
    }
    counts.all.separators += separators;
    counts.all.line_ends += line_ends;
    if constexpr (quoted) {
        counts.outside.separators += inside ? 0 : separators;
        counts.outside.line_ends += inside ? 0 : line_ends;
    }
    if (__any_sync(tile::all_lanes, runs != 0)) {
        const u32 side = inside ? tile::top_bits : 0;
        count_runs<quoted>(counts, place, patterns, {side, side, side, side});
    }
}

// Count a vector that contains or follows a quote. `inside`: the preceding byte is inside quotes. `there`: mask of the
// bytes that lie in the text.
HR_FN void count_quoted(PlainCounts& counts, const TextVector& place, const Patterns& patterns,
                        const tile::Bits& quotes, bool inside, u32 there) {
    const bool delimited = patterns.ends_line(place.before) || place.before == (patterns.separator & 0xFF);
    u32 before = delimited ? tile::top_bits : 0, runs = 0;
    u32 quote_before = place.before == (patterns.quote & 0xFF) ? tile::top_bits : 0;
    u32 carry = inside ? ~0u : 0;
    tile::Bits within, from_outside, from_inside;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const Delimiters found(place.word[k], patterns);
        const u32 quote = quotes.word[k], delimiters = found.separators | found.line_ends;
        within.word[k] = tile::parities(quote) ^ carry;
        carry = static_cast<u32>(static_cast<i32>(within.word[k]) >> 31);
        const u32 behind_delimiter = tile::following(before, delimiters),
                  behind_quote = tile::following(quote_before, quote);
        before = delimiters;
        quote_before = quote;
        runs |= found.line_ends & behind_delimiter;
        counts.all.separators = tile::add_bytes(found.separators, counts.all.separators);
        counts.all.line_ends = tile::add_bytes(found.line_ends, counts.all.line_ends);
        counts.outside.separators = tile::add_bytes(found.separators & ~within.word[k], counts.outside.separators);
        counts.outside.line_ends = tile::add_bytes(found.line_ends & ~within.word[k], counts.outside.line_ends);
        counts.high |= place.word[k];
        counts.no_returns &= found.no_returns | place.word[k];
        // An opening quote (it is inside) is malformed if it follows neither a delimiter nor a quote. So is a byte
        // after a closing quote (it is outside) that is neither.
        const u32 if_inside = quote & ~(behind_delimiter | (behind_quote & patterns.doubles));
        const u32 if_outside = behind_quote & ~(delimiters | quote);
        from_outside.word[k] = (if_inside & within.word[k]) | (if_outside & ~within.word[k]);
        from_inside.word[k] = (if_inside & ~within.word[k]) | (if_outside & within.word[k]);
    }
    if (there == 0xFFFF) {
        counts.outside.strays |= tile::any(from_outside);
        counts.all.strays |= tile::any(from_inside);
    } else {  // the byte after a quote at the text's end is padding
        counts.outside.strays |= tile::gathered(from_outside) & there;
        counts.all.strays |= tile::gathered(from_inside) & there;
    }
    counts.quotes |= tile::any(quotes);
    if (__any_sync(tile::all_lanes, runs != 0)) count_runs<true>(counts, place, patterns, within);
}

HR_FN void watch(PlainCounts& counts, const TextVector& place, const PlainDialect& dialect) {
    const u32 first = tile::repeated(dialect.watched[0]);
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const u32 low = place.word[k] & ~tile::top_bits;
        counts.unwatched &= tile::differs(low, first) | place.word[k];
    }
    if (dialect.watched[1] != dialect.watched[0] || dialect.watched[2] != dialect.watched[0]) {
        const u32 second = tile::repeated(dialect.watched[1]), third = tile::repeated(dialect.watched[2]);
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
            const u32 low = place.word[k] & ~tile::top_bits;
            counts.unwatched &= (tile::differs(low, second) & tile::differs(low, third)) | place.word[k];
        }
    }
}

}  // namespace headrace::structure
