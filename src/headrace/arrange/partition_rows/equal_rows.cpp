#include "arrange/partition_rows/equal_rows_host.hpp"
#include "core/cpu/cache_blocks.hpp"

namespace headrace {

void compare_rows(const ComparedColumn& one, const ComparedColumn& other, const RowPairs& pairs, u8* equal,
                  unsigned threads) {
    const Pieces pieces(pairs.count, 64);
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 i = begin; i < end; ++i) {
            if (equal[i] == 0) continue;
            const u64 row = static_cast<u64>(pairs.rows[i]), other_row = static_cast<u64>(pairs.others[i]);
            equal[i] = compare_row(one, row, other, other_row, pairs.are_nulls_equal) == RowVerdict::equal;
        }
    });
}

}  // namespace headrace
