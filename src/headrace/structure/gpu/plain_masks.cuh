// Classifies 16 bytes of a plain dialect as masks, by the rules of plain_masks.hpp. All that must be known of the
// preceding text is one byte and whether it is inside quotes. A mask has bit 7 of each byte set or clear. A tile is in
// shared memory as such vectors.
#pragma once
#include "gpu/block/byte_masks.cuh"
#include "gpu/block/warp.cuh"
#include "structure/gpu/tile_start.hpp"
#include "structure/gpu/tile_text.cuh"

namespace headrace::structure {

// The dialect's special bytes, each repeated in all bytes of a word.
struct Patterns {
    u32 separator, line_end, carriage, quote;
    u32 doubles;  // all ones or zero. A branch would duplicate the loop around it
    bool universal, skip_blank;

    HR_MEMBER explicit Patterns(const PlainDialect& dialect)
        : separator(tile::repeated(dialect.separator)),
          line_end(tile::repeated(dialect.line_end)),
          carriage(dialect.flags & PLAIN_UNIVERSAL ? tile::repeated('\r') : line_end),
          quote(tile::repeated(dialect.quote)),
          doubles(0 - static_cast<u32>(dialect.flags / PLAIN_DOUBLES & 1)),
          universal(dialect.flags & PLAIN_UNIVERSAL),
          skip_blank(dialect.flags & PLAIN_SKIP_BLANK) {}

    HR_MEMBER bool ends_line(u8 byte) const { return byte == (line_end & 0xFF) || byte == (carriage & 0xFF); }
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

    HR_MEMBER Delimiters(u32 bytes, const Patterns& patterns) {
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

HR_FN tile::Bits find_byte(const TextVector& place, u32 pattern) {
    tile::Bits found;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) found.word[k] = tile::equals(place.word[k], pattern);
    return found;
}

// Return the bytes inside quotes. An opening quote counts as inside, a closing one as outside. `inside`: the state of
// the preceding byte.
HR_FN tile::Bits find_inside(const tile::Bits& quotes, bool inside) {
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
HR_FN bool find_ends(Masks& masks, const TextVector& place, const Patterns& patterns) {
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
HR_FN void resolve_runs(Masks& masks, const TextVector& place, const Patterns& patterns) {
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
HR_FN tile::Bits find_starts(const Masks& masks, const Patterns& patterns) {
    tile::Bits found;
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const u32 none = patterns.skip_blank ? masks.line_ends.word[k] : masks.completing.word[k];
        found.word[k] = masks.after.word[k] & ~none;
    }
    return found;
}

// A row is 32 adjacent vectors, one a lane. Each warp owns `rows` consecutive rows.
template <u32 threads, u32 rows>
struct PlainTile {
    static constexpr u32 vectors = threads * rows;
    static constexpr u32 bytes = vectors * 16;
    static constexpr u32 all_rows = vectors / tile::lanes;
    static constexpr u32 row_bytes = tile::lanes * 16;
    uint4 vector[vectors + 1];  // [0] precedes the tile; only its last byte is valid

    HR_MEMBER static u32 vector_of(u32 row) { return (tile::warp() * rows + row) * tile::lanes + tile::lane(); }
    HR_MEMBER u8 byte(i32 at) const { return reinterpret_cast<const u8*>(vector + 1)[at]; }
    HR_MEMBER TextVector place(u32 number) const {
        const uint4 words = vector[number + 1];
        return {{words.x, words.y, words.z, words.w}, byte(static_cast<i32>(number * 16) - 1)};
    }

    // All threads of the block: load the tile whose first byte is `first`. Padding before the text consists of line
    // ends, so that a record begins at the text's first byte; padding after it consists of ordinary bytes.
    HR_MEMBER void stage(const u8* text, u64 size, i64 first, const PlainDialect& dialect) {
        if (is_inner(first, size)) {
#pragma unroll
            for (u32 row = 0; row < rows; ++row) {
                const u32 number = vector_of(row);
                tile::copy_async(&vector[number + 1], reinterpret_cast<const uint4*>(text + first) + number);
            }
        } else {
#pragma unroll 1
            for (u32 row = 0; row < rows; ++row) {
                const u32 number = vector_of(row);
                vector[number + 1] = edge_vector(text, size, first + number * 16, dialect.line_end, dialect.other);
            }
        }
        if (threadIdx.x == 0) {
            const u8 before = first > 0 ? text[first - 1] : dialect.line_end;
            vector[0] = {0, 0, 0, static_cast<u32>(before) << 24};
        }
        tile::wait_for_copies();
        __syncthreads();
    }
    HR_MEMBER static bool is_inner(i64 first, u64 size) {
        return first >= 0 && static_cast<u64>(first) + bytes <= size;
    }
};

// Return which of the 16 bytes at `at` lie in the text, a bit each.
HR_FN u32 bytes_there(i64 at, u64 size) {
    const i64 left = static_cast<i64>(size) - at;
    const u32 there = left >= 16 ? 0xFFFF : left <= 0 ? 0 : (1u << left) - 1;
    return at >= 0 ? there : at <= -16 ? 0 : there & 0xFFFFu << -at & 0xFFFF;
}

// Parity of the quotes in a row: before this lane's vector, and in all vectors.
struct Parities {
    u32 odd;  // lanes whose vectors hold an odd number

    HR_MEMBER explicit Parities(const tile::Bits& quotes) {
        const u32 folded = quotes.word[0] ^ quotes.word[1] ^ quotes.word[2] ^ quotes.word[3];
        odd = __ballot_sync(tile::all_lanes, (__popc(folded) & 1) != 0);
    }
    HR_MEMBER bool before() const { return (__popc(odd & ((1u << tile::lane()) - 1)) & 1) != 0; }
    HR_MEMBER bool all() const { return (__popc(odd) & 1) != 0; }
};

}  // namespace headrace::structure
