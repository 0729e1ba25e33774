#include <cstring>

#include "arrange/partition_rows/equal_rows_host.hpp"
#include "core/cpu/cache_blocks.hpp"

namespace headrace {
namespace {

struct RowText {
    const u8* begin;
    u64 size;
};

bool is_null(const HashedColumn& column, u64 row) {
    row += column.first;
    return column.validity != nullptr && (column.validity[row / 8] >> (row % 8) & 1) == 0;
}

template <class Offset>
RowText text_between(const HashedColumn& column, u64 row) {
    const Offset* const offsets = static_cast<const Offset*>(column.offsets);
    const u64 begin = item_at_any(offsets + row);
    return {static_cast<const u8*>(column.values) + begin, item_at_any(offsets + row + 1) - begin};
}

RowText plain_text(const HashedColumn& column, u64 row) {
    row += column.first;
    if (column.data == nullptr) {
        return column.width == 4 ? text_between<u32>(column, row) : text_between<u64>(column, row);
    }
    const u8* const view = static_cast<const u8*>(column.values) + row * 16;
    const u32* const words = reinterpret_cast<const u32*>(view);
    const u32 size = item_at_any(words);
    if (size <= 12) return {view + 4, size};
    return {column.data[item_at_any(words + 2)] + item_at_any(words + 3), size};
}

RowText text_of(const ComparedColumn& compared, u64 row) {
    if (compared.texts == nullptr) return plain_text(compared.column, row);
    const u32* const codes = static_cast<const u32*>(compared.column.values);
    return plain_text(*compared.texts, item_at_any(codes + compared.column.first + row));
}

bool has_texts(const ComparedColumn& compared) {
    return compared.texts != nullptr || compared.column.data != nullptr || compared.column.offsets != nullptr;
}

bool are_equal(const ComparedColumn& one, u64 row, const ComparedColumn& other, u64 other_row) {
    if (has_texts(one)) {
        const RowText a = text_of(one, row), b = text_of(other, other_row);
        return a.size == b.size && (a.size == 0 || std::memcmp(a.begin, b.begin, a.size) == 0);
    }
    row += one.column.first;
    other_row += other.column.first;
    if (one.column.width == 16) {
        const u8* const a = static_cast<const u8*>(one.column.values) + 16 * row;
        return std::memcmp(a, static_cast<const u8*>(other.column.values) + 16 * other_row, 16) == 0;
    }
    return word_of_row(one.column, row) == word_of_row(other.column, other_row);  // of up to 8 bytes: the value itself
}

}  // namespace

void compare_rows(const ComparedColumn& one, const ComparedColumn& other, const RowPairs& pairs, u8* equal,
                  unsigned threads) {
    const Pieces pieces(pairs.count, 64);
    for_each_piece(pieces.number(), threads, [&](u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 i = begin; i < end; ++i) {
            if (equal[i] == 0) continue;
            const u64 row = static_cast<u64>(pairs.rows[i]), other_row = static_cast<u64>(pairs.others[i]);
            const bool is_one_null = is_null(one.column, row), is_other_null = is_null(other.column, other_row);
            if (is_one_null || is_other_null) {
                equal[i] = pairs.are_nulls_equal && is_one_null && is_other_null;
            } else {
                equal[i] = are_equal(one, row, other, other_row);
            }
        }
    });
}

}  // namespace headrace
