// Finds the rows for which a condition is true. A first pass over the columns writes a bit per row and counts; a second
// one expands the bits to row numbers.
#include "arrange/filter/cpu/filter_rows.hpp"

#include <cstring>
#include <vector>

#include "arrange/filter/cpu/evaluation.hpp"
#include "core/cpu/cache_blocks.hpp"

namespace headrace {

namespace {

// Packs bytes of 0 or 1 to 8 bits.
u64 bits_of(const u8* bytes) {
    u64 word;
    std::memcpy(&word, bytes, 8);
    return word * 0x0102040810204080ull >> 56;
}

// Packs up to 64 bytes of 0 or 1 to bits.
u64 word_of(const u8* bytes, u64 count) {
    u64 word = 0;
    if (count < 64) {
        for (u64 i = 0; i < count; ++i) word |= u64{bytes[i]} << i;
        return word;
    }
    for (u64 i = 0; i < 64; i += 8) word |= bits_of(bytes + i) << i;
    return word;
}

// Writes a bit per row of a piece, and returns the number of rows that are selected.
u64 mark_rows(FilterEvaluation& evaluation, RowBlock piece, u8* bits) {
    u64 selected = 0;
    for (u64 at = 0; at < piece.count; at += block_rows) {
        const u64 count = std::min(block_rows, piece.count - at);
        const u8* const truths = evaluation.values({piece.begin + at, count}).words;
        for (u64 i = 0; i < count; i += 64) {
            const u64 rows = std::min<u64>(64, count - i), word = word_of(truths + i, rows);
            std::memcpy(bits + (at + i) / 8, &word, (rows + 7) / 8);
            selected += static_cast<u64>(count_ones(word));
        }
    }
    return selected;
}

void number_rows(const u8* bits, RowBlock piece, u64* to) {
    for (u64 at = 0; at < piece.count; at += 64) {
        u64 word = 0;
        std::memcpy(&word, bits + at / 8, std::min<u64>(8, (piece.count - at + 7) / 8));
        for (; word != 0; word &= word - 1) *to++ = piece.begin + at + static_cast<u64>(trailing_zeros(word));
    }
}

}  // namespace

u64 filter_rows(const FilterProgram& program, u64 rows, const std::function<u64*(u64)>& allocate, Isa isa,
                unsigned threads) {
    const PreparedFilter prepared(program, isa);
    const Pieces pieces(rows, sizeof(u32));
    std::vector<u8> bits(rows / 8 + 1);
    std::vector<u64> begins(pieces.number() + 1);
    const auto begin = [&] { return FilterEvaluation(prepared); };
    const auto mark = [&](FilterEvaluation& evaluation, u64 piece) {
        const RowBlock part{pieces.begin(piece), pieces.size(piece)};
        begins[piece + 1] = mark_rows(evaluation, part, bits.data() + part.begin / 8);
    };
    for_each_piece(pieces.number(), threads, begin, mark);
    for (u64 piece = 0; piece < pieces.number(); ++piece) begins[piece + 1] += begins[piece];
    const u64 selected = begins.back();
    if (selected == rows) return selected;
    u64* const numbers = allocate(selected);
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const RowBlock part{pieces.begin(piece), pieces.size(piece)};
        number_rows(bits.data() + part.begin / 8, part, numbers + begins[piece]);
    });
    return selected;
}

}  // namespace headrace
