#include "index/hash_map/texts/packed_rows.hpp"

#include <algorithm>

#include "arrange/sort/sort_key.hpp"
#include "index/hash_map/cpu/sharded_rows.hpp"

namespace headrace {
namespace {

bool has_texts(const ComparedColumn& column) { return is_dictionary(column) || has_plain_texts(column.column); }

RowText text_at(const PackedColumn& column, u64 row) {
    return text_of_row(column.values, column.values.column.first + row);
}

u64 packed_size(const PackedColumn& column, u64 row) {
    if (!has_texts(column.values)) return column.values.column.width;
    const RowText text = text_at(column, row);
    return text.size + static_cast<u64>(std::count(text.begin, text.begin + text.size, 0)) + 2;
}

u8* pack_text(RowText text, u8* to) {
    for (u64 i = 0; i < text.size; ++i) {
        *to++ = text.begin[i];
        if (text.begin[i] == 0) *to++ = 0xFF;
    }
    *to++ = 0;
    *to++ = 0;
    return to;
}

template <class Bits>
u8* pack_number(const PackedColumn& column, u64 row, u8* to) {
    const KeyRule<Bits> rule{static_cast<Bits>(column.fold), static_cast<Bits>(column.toggle), 0, 0};
    const auto* const values = static_cast<const Bits*>(column.values.column.values);
    const Bits code = rule.code(item_at_any(values + column.values.column.first + row));
    for (usize i = sizeof(Bits); i-- > 0;) *to++ = static_cast<u8>(code >> 8 * i);
    return to;
}

u8* pack_value(const PackedColumn& column, u64 row, u8* to) {
    if (has_texts(column.values)) return pack_text(text_at(column, row), to);
    return column.values.column.width == 4 ? pack_number<u32>(column, row, to) : pack_number<u64>(column, row, to);
}

template <class Work>
void each_row(u64 count, unsigned threads, const Work& work) {
    const Pieces pieces(count, 64);
    for_each_piece(pieces.number(), threads_for(count, threads), [&](u64 piece) {
        const u64 begin = pieces.begin(piece), end = begin + pieces.size(piece);
        for (u64 row = begin; row < end; ++row) work(row);
    });
}

}  // namespace

void pack_rows(const std::vector<PackedColumn>& columns, u64 count, u64* ends, const std::function<u8*(u64)>& allocate,
               unsigned threads) {
    each_row(count, threads, [&](u64 row) {
        u64 size = 0;
        for (const PackedColumn& column : columns) size += packed_size(column, row);
        ends[row + 1] = size;
    });
    for (u64 row = 0; row < count; ++row) ends[row + 1] += ends[row];
    u8* const texts = allocate(ends[count]);
    each_row(count, threads, [&](u64 row) {
        u8* to = texts + ends[row];
        for (const PackedColumn& column : columns) to = pack_value(column, row, to);
    });
}

}  // namespace headrace
