// Converts the fields that the fast conversion has left to the shared rules, a thread each. Their texts are read from
// device memory.
#pragma once

#include "columns/convert/gpu/fast/row_task.hpp"
#include "columns/convert/gpu/general/tile_rules.cuh"

namespace headrace {

// Returns whether the general path converts the tile in which a field ends, and so the field.
HR_FN bool is_in_marked_tile(const LeftField& field, const u8* text, const ConvertTask& task, const u32* marks) {
    const u64 skew = reinterpret_cast<u64>(text) & 15;
    const u64 tile = (field.begin + field.size + skew) / tile_bytes;
    return (marks[min(tile, u64{task.tiles - 1})] & ROW_MARK_ALL) != 0;
}

// Returns the text of a field. The fast path reads no padded fields, and leaves none in a tile with escapes.
HR_FN FieldText text_of_left(const LeftField& field, const u8* text, const PlainDialect& dialect) {
    FieldText result{text + field.begin, field.size, false, false, 0};
    if (may_quote && (dialect.flags & PLAIN_QUOTES) && result.n >= 2 && *result.p == dialect.quote) {
        result = {result.p + 1, result.n - 2, true, true, 1};
    }
    return result;
}

// Converts this block's share of the fields. The fast path has stored nulls for them.
HR_COLD void convert_left_fields(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                                 const ConvertColumn* columns, const u32* marks) {
    const u64 listed = memory.totals_of_text->left % LEFT_TILES, count = min(listed, task.fault_capacity);
    const LeftField* const fields = reinterpret_cast<const LeftField*>(memory.faults + task.fault_capacity);
    for (u64 i = u64{blockIdx.x} * threads + threadIdx.x; i < count; i += u64{gridDim.x} * threads) {
        const LeftField field = fields[i];
        if (field.column == NO_FIELD || is_in_marked_tile(field, text, task, marks)) continue;
        const ConvertColumn& column = columns[field.column];
        const u64 begin = field.begin;
        const auto fault = [&]() -> FieldFault {
            return {field.row, field.record_begin, begin, begin + field.size, begin, column.position, 0};
        };
        const FieldText own = text_of_left(field, text, task.dialect);
        const Converted converted = convert_text(memory, task, column, own, field.row, fault);
        if (converted.present) put_over_null(column, field.row, converted.value);
    }
}

}  // namespace headrace
