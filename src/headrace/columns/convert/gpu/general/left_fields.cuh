// Converts the fields that the fast conversion has left to the shared rules, a thread each. Their texts are read from
// device memory.
#pragma once

#include "columns/convert/gpu/fast/row_task.hpp"
#include "columns/convert/gpu/general/tile_rules.cuh"

namespace headrace {

// Returns whether the general path converts the tile in which a field ends, and so the field.
HR_FN bool is_in_marked_tile(const LeftField& field, const ConvertTask& task, const u32* marks) {
    const u32 tile = field.tile - (field.end < 0 ? 1 : 0) + (field.end >= static_cast<i32>(tile_bytes) ? 1 : 0);
    return (marks[min(tile, task.tiles - 1)] & ROW_MARK_ALL) != 0;
}

// Returns the text [begin, end). Fields are left only in texts that masks read, so none is padded or has escapes.
HR_FN FieldText text_of_left(const u8* text, u64 begin, u64 end, const PlainDialect& dialect) {
    FieldText result{text + begin, static_cast<usize>(end - begin), false, false, 0};
    if (may_quote && (dialect.flags & PLAIN_QUOTES) && result.n >= 2 && *result.p == dialect.quote) {
        result = {result.p + 1, result.n - 2, true, true, 1};
    }
    return result;
}

// Converts this block's share of the fields. The fast path has stored nulls for them.
HR_COLD void convert_left_fields(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                                 const TileStart* entries, const ConvertColumn* columns, const u32* marks) {
    const u64 listed = memory.totals_of_text->left % LEFT_TILES, count = min(listed, task.fault_capacity);
    const u32 skew = static_cast<u32>(reinterpret_cast<u64>(text) & 15);
    const LeftField* const fields = reinterpret_cast<const LeftField*>(memory.faults + task.fault_capacity);
    for (u64 i = u64{blockIdx.x} * threads + threadIdx.x; i < count; i += u64{gridDim.x} * threads) {
        const LeftField field = fields[i];
        if (field.column == NO_LEFT || is_in_marked_tile(field, task, marks)) continue;
        const ConvertColumn& column = columns[field.column];
        const u64 tile = u64{field.tile} * tile_bytes - skew, row = entries[field.tile].record + field.record;
        const u64 begin = tile + static_cast<u64>(i64{field.begin}), end = tile + static_cast<u64>(i64{field.end});
        const auto fault = [&]() -> FieldFault {
            const u64 record_begin = tile + static_cast<u64>(i64{field.record_begin});
            return {row, record_begin, begin, end, begin, column.position, 0};
        };
        const FieldText own = text_of_left(text, begin, end, task.dialect);
        const Converted converted = convert_text(memory, task, column, own, row, fault);
        if (converted.present) put_over_null(column, row, converted.value);
    }
}

}  // namespace headrace
