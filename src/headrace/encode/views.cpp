#include "columns/dictionary/pieces.hpp"
#include "encode/texts.hpp"

namespace headrace {
namespace {

// Rows whose long texts are in one buffer.
struct ViewPiece {
    RowRange rows;
    u64 bytes = 0;  // bytes of texts that are not inline
    u32 buffer = 0;
    u64 offset = 0;
};

u64 long_bytes(const TextColumn& texts, u64 row) {
    const usize size = texts.is_null(row) ? 0 : texts.text(row).size();
    return size & long_mask(size);
}

// Divides rows into parts of at most `max_bytes` bytes, each cut where the next text would not fit.
std::vector<ViewPiece> measured_parts(const TextColumn& texts, RowRange rows, u64 max_bytes) {
    u64 all = 0;
    for (u64 row = rows.begin; row < rows.end; ++row) all += long_bytes(texts, row);
    if (all <= max_bytes) return {{rows, all, 0, 0}};
    std::vector<ViewPiece> parts;
    ViewPiece part{{rows.begin, rows.begin}, 0, 0, 0};
    for (u64 row = rows.begin; row < rows.end; ++row) {
        const u64 bytes = long_bytes(texts, row);
        if (part.bytes + bytes > max_bytes) {
            parts.push_back(part);
            part = {{row, row}, 0, 0, 0};
        }
        part.bytes += bytes;
        part.rows.end = row + 1;
    }
    parts.push_back(part);
    return parts;
}

std::vector<ViewPiece> measured_pieces(const TextColumn& texts, unsigned threads, u64 max_bytes) {
    std::vector<std::vector<ViewPiece>> found(piece_count(texts.length));
    run_each(found.size(), threads,
             [&](usize piece) { found[piece] = measured_parts(texts, piece_rows(piece, texts.length), max_bytes); });
    std::vector<ViewPiece> pieces;
    for (const auto& parts : found) pieces.insert(pieces.end(), parts.begin(), parts.end());
    return pieces;
}

// Assigns a position to each piece, and a size to each buffer.
std::vector<u64> place_pieces(std::vector<ViewPiece>& pieces, u64 max_bytes) {
    std::vector<u64> sizes;
    for (ViewPiece& piece : pieces) {
        if (piece.bytes == 0) continue;
        if (sizes.empty() || sizes.back() + piece.bytes > max_bytes) sizes.push_back(0);
        piece.buffer = static_cast<u32>(sizes.size() - 1);
        piece.offset = sizes.back();
        sizes.back() += piece.bytes;
    }
    return sizes;
}

void write_piece(const TextColumn& texts, const ViewPiece& piece, EncodedTexts& result) {
    static constexpr std::array<char, ViewWriter::COPIED> NOTHING{};
    static_assert(ViewWriter::COPIED <= Region::SLACK);
    u8* const buffer = piece.bytes != 0 ? result.data[piece.buffer].as<u8>() : nullptr;
    ViewWriter writer(result.values.as<View>() + piece.rows.begin,
                      {buffer, piece.buffer, piece.offset, piece.offset + piece.bytes});
    for (u64 row = piece.rows.begin; row < piece.rows.end; ++row) {
        const std::string_view text = texts.is_null(row) ? std::string_view(NOTHING.data(), 0) : texts.text(row);
        writer.add(reinterpret_cast<const u8*>(text.data()), text.size());
    }
}

}  // namespace

u64 longest_text(const TextColumn& texts, unsigned threads, u64 limit) {
    if (texts.form != TextForm::view && texts.all_bytes() <= limit) return texts.all_bytes();
    std::vector<u64> longest(piece_count(texts.length), 0);
    run_each(longest.size(), threads, [&](usize piece) {
        const RowRange rows = piece_rows(piece, texts.length);
        for (u64 row = rows.begin; row < rows.end; ++row) {
            longest[piece] = std::max<u64>(longest[piece], texts.text(row).size());
        }
    });
    return longest.empty() ? 0 : *std::max_element(longest.begin(), longest.end());
}

EncodedTexts make_views(const TextColumn& texts, unsigned threads, u64 max_bytes) {
    std::vector<ViewPiece> pieces = measured_pieces(texts, threads, max_bytes);
    EncodedTexts result;
    result.form = TextForm::view;
    for (const u64 size : place_pieces(pieces, max_bytes)) result.data.push_back(region_of(size, texts.budget));
    result.values = region_of(texts.length * sizeof(View), texts.budget);
    run_each(pieces.size(), threads, [&](usize piece) { write_piece(texts, pieces[piece], result); });
    result.validity = copied_validity(texts, threads);
    return result;
}

}  // namespace headrace
