#include "export/arrow/wrong_rows.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace headrace {
namespace {

constexpr i64 BLOCK_ROWS = 4096;

template <class T>
T load(const u8* items, i64 row) {
    T item;
    std::memcpy(&item, items + row * static_cast<i64>(sizeof(T)), sizeof(T));
    return item;
}

// Return the first wrong row. The rows of a block are tested without a branch; the row is sought in a wrong block only.
template <class IsWrong>
i64 first_wrong(i64 rows, const IsWrong& is_wrong) {
    for (i64 begin = 0; begin < rows; begin += BLOCK_ROWS) {
        const i64 end = std::min(begin + BLOCK_ROWS, rows);
        unsigned wrong = 0;
        for (i64 row = begin; row < end; ++row) wrong |= static_cast<unsigned>(is_wrong(row));
        if (wrong == 0) continue;
        for (i64 row = begin; row < end; ++row) {
            if (is_wrong(row)) return row;
        }
    }
    return -1;
}

template <class Offset>
i64 wrong_offset_of(const u8* offsets, i64 rows, i64 size) {
    if (rows > 0 && load<Offset>(offsets, 0) < 0) return 0;
    const Offset limit = static_cast<Offset>(std::min(size, i64{std::numeric_limits<Offset>::max()}));
    return first_wrong(rows, [&](i64 row) {
        const Offset end = load<Offset>(offsets, row + 1);
        return (end < load<Offset>(offsets, row)) | (end > limit);
    });
}

template <class Code>
i64 wrong_code_of(const u8* codes, i64 rows, u64 count, ArrowValidity validity) {
    if (count > std::numeric_limits<Code>::max()) return -1;
    const Code end = static_cast<Code>(count);  // as narrow as the codes, so that a vector has many
    const auto is_outside = [&](i64 row) { return load<Code>(codes, row) >= end; };
    const i64 first = first_wrong(rows, is_outside);
    if (first < 0 || validity.bits == nullptr) return first;
    for (i64 row = first; row < rows; ++row) {
        if (is_outside(row) && !validity.is_null(row)) return row;
    }
    return -1;
}

}  // namespace

i64 wrong_offset(const u8* offsets, int width, i64 rows, i64 size) {
    return width == 4 ? wrong_offset_of<i32>(offsets, rows, size) : wrong_offset_of<i64>(offsets, rows, size);
}

i64 wrong_code(const u8* codes, int width, i64 rows, u64 count, ArrowValidity validity) {
    if (width == 1) return wrong_code_of<u8>(codes, rows, count, validity);
    if (width == 2) return wrong_code_of<u16>(codes, rows, count, validity);
    if (width == 4) return wrong_code_of<u32>(codes, rows, count, validity);
    return wrong_code_of<u64>(codes, rows, count, validity);
}

i64 wrong_view(const u8* views, i64 rows, const std::vector<i64>& sizes, ArrowValidity validity) {
    constexpr i64 VIEW_BYTES = 16, INLINE_BYTES = 12;
    for (i64 row = 0; row < rows; ++row) {
        i32 view[4];  // size, first bytes, buffer, offset
        std::memcpy(view, views + row * VIEW_BYTES, VIEW_BYTES);
        const i64 size = view[0], number = view[2], begin = view[3];
        if ((size >= 0 && size <= INLINE_BYTES) || validity.is_null(row)) continue;
        if (size < 0 || number < 0 || number >= static_cast<i64>(sizes.size()) || begin < 0) return row;
        if (begin + size > sizes[static_cast<usize>(number)]) return row;
    }
    return -1;
}

void clear_nulls(u8* items, int width, i64 rows, ArrowValidity validity) {
    for (i64 row = 0; row < rows; ++row) {
        if (validity.is_null(row)) std::memset(items + row * width, 0, static_cast<usize>(width));
    }
}

}  // namespace headrace
