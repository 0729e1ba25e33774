// Finds the special bytes of a plain dialect, four at a time. A mask has bit 7 of each byte set or clear.
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

// The bytes that a thread has read.
struct PlainBytes {
    u32 unwatched = ~0u;   // bit 7 of a byte is 0 if a watched byte occurred there
    u32 no_returns = ~0u;  // the same for carriage returns
    u32 high = 0, quotes = 0;
};

HR_FN void watch(PlainBytes& found, uint4 bytes, const PlainDialect& dialect) {
    const u32 word[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
    const u32 first = tile::repeated(dialect.watched[0]);
#pragma unroll
    for (u32 k = 0; k < 4; ++k) {
        const u32 low = word[k] & ~tile::top_bits;
        found.unwatched &= tile::differs(low, first) | word[k];
    }
    if (dialect.watched[1] != dialect.watched[0] || dialect.watched[2] != dialect.watched[0]) {
        const u32 second = tile::repeated(dialect.watched[1]), third = tile::repeated(dialect.watched[2]);
#pragma unroll
        for (u32 k = 0; k < 4; ++k) {
            const u32 low = word[k] & ~tile::top_bits;
            found.unwatched &= (tile::differs(low, second) & tile::differs(low, third)) | word[k];
        }
    }
}

// Return the FindFlags of the bytes that a thread has read.
HR_FN u32 found_in(const PlainBytes& found, const PlainDialect& dialect) {
    u32 flags = (found.high & tile::top_bits) != 0 ? u32{FIND_HIGH} : 0u;
    if ((dialect.flags & PLAIN_WATCHES) && (~found.unwatched & tile::top_bits) != 0) flags |= FIND_REDO;
    if (found.quotes != 0) flags |= FIND_QUOTES;
    if ((dialect.flags & PLAIN_UNIVERSAL) && (~found.no_returns & tile::top_bits) != 0) flags |= FIND_RETURN;
    return flags;
}

// One warp: add its threads' flags to the totals.
HR_FN void add_found(FindTotals* totals, u32 flags) {
    flags = __reduce_or_sync(tile::all_lanes, flags);
    if (flags != 0 && tile::lane() == 0) add_flags(totals, flags);
}

}  // namespace headrace::structure
