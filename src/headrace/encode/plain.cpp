#include "encode/pieces.hpp"

namespace headrace {
namespace {

// Returns the position of each piece's first text, and the end of the last.
std::vector<u64> text_begins(const TextColumn& texts, unsigned threads) {
    const usize pieces = piece_count(texts.length);
    std::vector<u64> begins(pieces + 1, 0);
    run_each(pieces, threads, [&](usize piece) {
        const RowRange rows = piece_rows(piece, texts.length);
        u64 bytes = 0;
        for (u64 row = rows.begin; row < rows.end; ++row) bytes += texts.is_null(row) ? 0 : texts.text(row).size();
        begins[piece + 1] = bytes;
    });
    for (usize piece = 0; piece < pieces; ++piece) begins[piece + 1] += begins[piece];
    return begins;
}

template <class Offset>
void copy_texts(const TextColumn& texts, const std::vector<u64>& begins, unsigned threads, EncodedTexts& result) {
    Offset* ends = result.offsets.as<Offset>();
    ends[0] = 0;
    run_each(begins.size() - 1, threads, [&](usize piece) {
        const RowRange rows = piece_rows(piece, texts.length);
        u64 at = begins[piece];
        for (u64 row = rows.begin; row < rows.end; ++row) {
            if (!texts.is_null(row)) {
                const std::string_view text = texts.text(row);
                if (!text.empty()) std::memcpy(result.values.as<u8>() + at, text.data(), text.size());
                at += text.size();
            }
            ends[row + 1] = static_cast<Offset>(at);
        }
    });
}

}  // namespace

Region copied_validity(const TextColumn& texts, unsigned threads) {
    if (texts.validity == nullptr) return Region{};
    Region bits = region_of((texts.length + 63) / 64 * 8, texts);
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

EncodedTexts make_plain(const TextColumn& texts, unsigned threads, u64 max_small) {
    const std::vector<u64> begins = text_begins(texts, threads);
    EncodedTexts result;
    result.form = begins.back() <= max_small ? TextForm::small : TextForm::large;
    result.values = region_of(begins.back(), texts);
    const usize width = result.form == TextForm::small ? sizeof(i32) : sizeof(i64);
    result.offsets = region_of((texts.length + 1) * width, texts);
    if (result.form == TextForm::small) {
        copy_texts<i32>(texts, begins, threads, result);
    } else {
        copy_texts<i64>(texts, begins, threads, result);
    }
    result.validity = copied_validity(texts, threads);
    return result;
}

}  // namespace headrace
