#include "columns/dictionary/pieces.hpp"
#include "encode/texts.hpp"

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

EncodedTexts make_plain(const TextColumn& texts, unsigned threads, u64 max_small) {
    const std::vector<u64> begins = text_begins(texts, threads);
    EncodedTexts result;
    result.form = begins.back() <= max_small ? TextForm::small : TextForm::large;
    result.values = region_of(begins.back(), texts.budget);
    const usize width = result.form == TextForm::small ? sizeof(i32) : sizeof(i64);
    result.offsets = region_of((texts.length + 1) * width, texts.budget);
    if (result.form == TextForm::small) {
        copy_texts<i32>(texts, begins, threads, result);
    } else {
        copy_texts<i64>(texts, begins, threads, result);
    }
    result.validity = copied_validity(texts, threads);
    return result;
}

}  // namespace headrace
