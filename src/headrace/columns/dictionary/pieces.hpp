// Divides the rows of a column into pieces for threads.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "columns/dictionary/text_column.hpp"
#include "core/cpu/threads/thread_pool.hpp"

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

inline Region region_of(usize bytes, const std::shared_ptr<Budget>& budget) {
    Region region(bytes, budget);
    region.ensure(bytes);
    return region;
}

// Throw `length_error` if the texts of a dictionary have too many bytes for offsets of 32 bits.
inline void check_text_bytes(u64 bytes) {
    if (bytes > MAX_INT32)
        throw std::length_error("distinct texts of more than 2147483647 bytes; read them as large_string");
}

// Copies validity from the first row; returns an empty region if no row is null.
Region copied_validity(const TextColumn& texts, unsigned threads);

}  // namespace headrace
