#include "encode/pieces.hpp"

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
    if (texts.is_null(row)) return 0;
    const usize size = texts.text(row).size();
    return size > View::INLINE_BYTES ? size : 0;
}

// Divides a piece into parts of at most `max_bytes` bytes, each cut where the next text would not fit.
std::vector<ViewPiece> measured_pieces(const TextColumn& texts, unsigned threads, u64 max_bytes) {
    std::vector<std::vector<ViewPiece>> found(piece_count(texts.length));
    run_each(found.size(), threads, [&](usize piece) {
        const RowRange rows = piece_rows(piece, texts.length);
        ViewPiece part{{rows.begin, rows.begin}, 0, 0, 0};
        for (u64 row = rows.begin; row < rows.end; ++row) {
            const u64 bytes = long_bytes(texts, row);
            if (part.bytes + bytes > max_bytes) {
                found[piece].push_back(part);
                part = {{row, row}, 0, 0, 0};
            }
            part.bytes += bytes;
            part.rows.end = row + 1;
        }
        found[piece].push_back(part);
    });
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

// Views a text of at most 12 bytes. It is read whole, and bytes after its end are masked: a copy of its size is a call.
View inline_view(std::string_view text) {
    const TextStart start(text);
    return {static_cast<u32>(text.size()), static_cast<u32>(start.low), static_cast<u32>(start.low >> 32),
            static_cast<u32>(start.high)};
}

void write_piece(const TextColumn& texts, const ViewPiece& piece, EncodedTexts& result) {
    u64 at = piece.offset;
    for (u64 row = piece.rows.begin; row < piece.rows.end; ++row) {
        View view;
        const std::string_view text = texts.is_null(row) ? std::string_view{} : texts.text(row);
        if (text.size() <= View::INLINE_BYTES) {
            view = inline_view(text);
        } else {
            view.size = static_cast<u32>(text.size());
            std::memcpy(&view.prefix, text.data(), sizeof(view.prefix));
            view.buffer = piece.buffer;
            view.offset = static_cast<u32>(at);
            std::memcpy(result.data[piece.buffer].as<u8>() + at, text.data(), text.size());
            at += text.size();
        }
        result.values.as<View>()[row] = view;
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
    for (const u64 size : place_pieces(pieces, max_bytes)) result.data.push_back(region_of(size, texts));
    result.values = region_of(texts.length * sizeof(View), texts);
    run_each(pieces.size(), threads, [&](usize piece) { write_piece(texts, pieces[piece], result); });
    result.validity = copied_validity(texts, threads);
    return result;
}

}  // namespace headrace
