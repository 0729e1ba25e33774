#include "columns/dictionary/pieces.hpp"

namespace headrace {

Region copied_validity(const TextColumn& texts, unsigned threads) {
    if (texts.validity == nullptr) return Region{};
    Region bits = region_of((texts.length + 63) / 64 * 8, texts.budget);
    run_each(piece_count(texts.length), threads, [&](usize piece) {
        const RowRange rows = piece_rows(piece, texts.length);
        for (u64 begin = rows.begin; begin < rows.end; begin += 64) {
            u64 word = 0;
            for (u64 row = begin; row < std::min(begin + 64, rows.end); ++row) {
                word |= static_cast<u64>(!texts.is_null(row)) << (row - begin);
            }
            bits.as<u64>()[begin / 64] = word;
        }
    });
    bits.trim((texts.length + 7) / 8);
    return bits;
}

}  // namespace headrace
