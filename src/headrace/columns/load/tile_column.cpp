#include "columns/load/tile_column.hpp"

#include <algorithm>
#include <cstring>

#include "columns/buffers/text_views.hpp"
#include "columns/faults/rejected_records.hpp"

namespace headrace {
namespace {

// Merge a tile's bits into a column's, from any bit. The bits after the last one are 0.
void merge_bits(const std::vector<u64>& from, usize count, u64* to, usize at) {
    for (usize i = 0; i * 64 < count; ++i) add_bits(to, at + 64 * i, from[i]);
}

template <class Offset>
void put_strings(const TileColumn& part, const StoredRows& stored, std::byte* values, Offset* to) {
    u64 base = part.string_base;
    for_each_stored_run(stored.removed, stored.rows, [&](usize from, usize count) {
        const TextSpans& texts = part.texts;
        if (texts.are_joined()) {
            const u32 begin = texts.start(from), end = texts.ends[from + count - 1];
            std::memcpy(values + base, texts.bytes + begin, end - begin);
            for (usize row = from; row < from + count; ++row)
                *to++ = static_cast<Offset>(base + texts.ends[row] - begin);
            base += end - begin;
            return;
        }
        for (usize row = from; row < from + count; ++row) {
            const u32 size = texts.size(row);
            std::memcpy(values + base, texts.bytes + texts.start(row), size);
            *to++ = static_cast<Offset>(base += size);
        }
    });
}

void put_views(const TileColumn& part, const StoredRows& stored, const ConvertKernels& kernels, LoadedColumn& column) {
    View* to = column.offsets.as<View>() + stored.row_base;
    ViewBytes bytes = {column.values.as<u8>(), 0, part.string_base, part.string_base + part.stored_string_bytes};
    for_each_stored_run(stored.removed, stored.rows, [&](usize from, usize count) {
        bytes.at = kernels.put_views(part.texts, from, count, bytes, to);
        to += count;
    });
}

}  // namespace

bool store_codes(TileColumn& part, const StoredRows& stored, FewTexts& known, const TextCodes& codes) {
    known.begin(part.column);
    u64 row = stored.row_base;
    bool has_all = true;
    for_each_stored_run(stored.removed, stored.rows, [&](usize from, usize count) {
        const TextRun run = {from, count, row, part.nulls.data()};
        has_all = has_all && codes.coder->encode(part.texts, run, known, codes.region.as<u32>() + row);
        row += count;
    });
    if (has_all) part.tiles.push_back({stored.row_base, row - stored.row_base, part.string_base});
    return has_all;
}

void store_strings(const TileColumn& part, const StoredRows& stored, const ConvertKernels& kernels,
                   LoadedColumn& column) {
    if (column.views) {
        put_views(part, stored, kernels, column);
    } else if (value_bits(column.type) == 64) {
        put_strings(part, stored, column.values.data(), column.offsets.as<i64>() + stored.row_base + 1);
    } else {
        put_strings(part, stored, column.values.data(), column.offsets.as<i32>() + stored.row_base + 1);
    }
}

void store_values(const TileColumn& part, const StoredRows& stored, const LoadedColumn& column) {
    const usize width = value_bits(column.type) / 8;
    if (width == 0) return;
    std::byte* to = column.values.data() + stored.row_base * width;
    for_each_stored_run(stored.removed, stored.rows, [&](usize from, usize count) {
        std::memcpy(to, part.values + from * width, count * width);
        to += count * width;
    });
}

void store_bits(TileColumn& part, const StoredRows& stored, LoadedColumn& column, const Region& null_bits) {
    const std::vector<u64>& removed = stored.removed;
    const usize rows = stored.rows - stored.removed_rows;
    if (column.type.id == TypeId::boolean) {
        if (!removed.empty()) remove_bits(part.bits, removed, stored.rows);
        merge_bits(part.bits, rows, column.values.as<u64>(), stored.row_base);
    }
    if (part.counts.nulls == 0) return;
    if (!removed.empty()) remove_bits(part.nulls, removed, stored.rows);
    const u64 nulls = removed.empty() ? part.counts.nulls : count_bits(part.nulls);
    merge_bits(part.nulls, rows, null_bits.as<u64>(), stored.row_base);
    __atomic_fetch_add(&column.null_count, nulls, __ATOMIC_RELAXED);
}

}  // namespace headrace
