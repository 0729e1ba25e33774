// Divides the rows of a column into pieces for threads.
#pragma once

#include <algorithm>

#include "core/cpu/threads/thread_pool.hpp"
#include "encode/texts.hpp"

namespace headrace {

constexpr u64 PIECE_ROWS = u64{1} << 14;  // a multiple of 64, so that a piece starts at a word of bits

struct RowRange {
    u64 begin = 0;
    u64 end = 0;
};

inline usize piece_count(u64 rows) { return static_cast<usize>((rows + PIECE_ROWS - 1) / PIECE_ROWS); }

inline RowRange piece_rows(usize piece, u64 rows) {
    return {piece * PIECE_ROWS, std::min<u64>((piece + 1) * PIECE_ROWS, rows)};
}

// Purposes of regions, by which freed memory is reused: those of all columns of a table. They differ from the uses of a
// load (LoadPass::allocate) and of its table of rejects.
enum class EncodedUse : u32 { none = 0, views = u32{1} << 30, long_texts, codes };

inline Region region_of(usize bytes, const TextColumn& texts, EncodedUse use = EncodedUse::none) {
    Region region(bytes, texts.budget, Region::Content::any, static_cast<u32>(use));
    region.ensure(bytes);
    return region;
}

// Copies validity from the first row; returns an empty region if no row is null.
Region copied_validity(const TextColumn& texts, unsigned threads);

}  // namespace headrace
