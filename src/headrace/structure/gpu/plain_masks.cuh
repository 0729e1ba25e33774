// Classifies 16 bytes of a plain dialect as masks, by the rules of plain_masks.hpp. All that must be known of the
// preceding text is one byte and whether it is inside quotes. A mask has bit 7 of each byte set or clear.
#pragma once
#include "gpu/block/byte_masks.cuh"
#include "structure/gpu/tile_start.hpp"

namespace headrace {
namespace structure {

// The dialect's special bytes, each repeated in all bytes of a word.
struct Patterns {
    u32 separator, line_end, carriage, quote;
    u32 doubles;  // all ones or zero. A branch would duplicate the loop around it
    bool universal, skip_blank;

    __device__ __forceinline__ explicit Patterns(const PlainDialect& dialect)
        : separator(tile::repeated(dialect.separator)),
          line_end(tile::repeated(dialect.line_end)),
          carriage(dialect.flags & PLAIN_UNIVERSAL ? tile::repeated('\r') : line_end),
          quote(tile::repeated(dialect.quote)),
          doubles(0 - static_cast<u32>(dialect.flags / PLAIN_DOUBLES & 1)),
          universal(dialect.flags & PLAIN_UNIVERSAL),
          skip_blank(dialect.flags & PLAIN_SKIP_BLANK) {}

    __device__ __forceinline__ bool ends_line(u8 byte) const {
        return byte == (line_end & 0xFF) || byte == (carriage & 0xFF);
    }
};

// A vector of text, and the byte before it.
struct TextVector {
    u32 word[4];
    u8 before;
};

// Delimiters among four bytes.
struct Delimiters {
    u32 separators, line_ends;
    u32 no_returns;  // bit 7 of a byte: no carriage return (universal line ends), if it is ASCII

    __device__ __forceinline__ Delimiters(u32 bytes, const Patterns& patterns) {
        const u32 low = bytes & ~tile::top_bits;
        separators = ~(tile::differs(low, patterns.separator) | bytes) & tile::top_bits;
        no_returns = tile::differs(low, patterns.carriage);
        line_ends = ~((tile::differs(low, patterns.line_end) & no_returns) | bytes) & tile::top_bits;
    }
};

// Quotes are applied last. All bytes between two quotes are on the same side. So are a run of line ends, and a quote
// with the delimiter next to it. The masks below therefore ignore quotes.
struct Masks {
    tile::Bits separators, line_ends;
    tile::Bits after;       // the preceding byte is a line end
    tile::Bits records;     // line ends that end a record
    tile::Bits blanks;      // line ends of skipped blank lines
    tile::Bits completing;  // LF that completes CR LF
};

__device__ __forceinline__ tile::Bits find_byte(const TextVector& place, u32 pattern) {
    tile::Bits found;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) found.word[k] = tile::equals(place.word[k], pattern);
    return found;
}

// Return the bytes inside quotes. An opening quote counts as inside, a closing one as outside. `inside`: the state of
// the preceding byte.
__device__ __forceinline__ tile::Bits find_inside(const tile::Bits& quotes, bool inside) {
    tile::Bits found;
    u32 carry = inside ? tile::top_bits : 0;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        found.word[k] = (tile::parities(quotes.word[k]) ^ carry) & tile::top_bits;
        carry = found.word[k] >> 31 != 0 ? tile::top_bits : 0;
    }
    return found;
}

// Find separators and line ends, and record ends as if no line end followed another. Return whether one does; then the
// caller corrects the masks with `resolve_runs`. Most text has no such run.
__device__ __forceinline__ bool find_ends(Masks& masks, const TextVector& place, const Patterns& patterns) {
    u32 runs = 0;
    u32 before = patterns.ends_line(place.before) ? tile::top_bits : 0;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const Delimiters found(place.word[k], patterns);
        masks.separators.word[k] = found.separators;
        masks.line_ends.word[k] = found.line_ends;
        masks.after.word[k] = tile::following(before, masks.line_ends.word[k]);
        before = masks.line_ends.word[k];
        masks.records.word[k] = masks.line_ends.word[k];
        masks.blanks.word[k] = masks.completing.word[k] = 0;
        runs |= masks.line_ends.word[k] & masks.after.word[k];
    }
    return runs != 0;
}

// Correct runs of line ends: LF that completes CR LF, and blank lines.
__device__ __forceinline__ void resolve_runs(Masks& masks, const TextVector& place, const Patterns& patterns) {
    u32 returns = place.before == '\r' ? tile::top_bits : 0;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const u32 runs = masks.line_ends.word[k] & masks.after.word[k];
        const u32 is_return = tile::equals(place.word[k], patterns.carriage);
        const u32 follows = tile::following(returns, is_return);
        returns = is_return;
        // A run's line end that follows CR is LF or CR.
        masks.completing.word[k] = patterns.universal ? runs & follows & ~is_return : 0;
        masks.blanks.word[k] = patterns.skip_blank ? runs & ~masks.completing.word[k] : 0;
        masks.records.word[k] &= ~(masks.completing.word[k] | masks.blanks.word[k]);
    }
}

// Return the first bytes of records, valid where the preceding byte is outside quotes.
__device__ __forceinline__ tile::Bits find_starts(const Masks& masks, const Patterns& patterns) {
    tile::Bits found;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const u32 none = patterns.skip_blank ? masks.line_ends.word[k] : masks.completing.word[k];
        found.word[k] = masks.after.word[k] & ~none;
    }
    return found;
}

}  // namespace structure
}  // namespace headrace
