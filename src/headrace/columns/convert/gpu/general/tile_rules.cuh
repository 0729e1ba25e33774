// Converts fields of fixed width one by one, by the shared rules: those without a fast form and those that it declined.
#pragma once

#include "columns/convert/gpu/general/fast_values.cuh"
#include "columns/convert/gpu/general/tile_rows.cuh"

namespace headrace {

// A value, and whether it is present; zero if it is not.
struct Converted {
    Int128 value;
    bool present;
};

// Converts one field by the shared rules.
HR_COLD Converted by_rule(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                          const ConvertColumn& column, u32 slot, u64 row, bool sound) {
    Converted result{};
    if (!sound) return result;
    const FieldPlace place = place_of(memory, task, memory.tile, memory.window, column.position, slot);
    if (place.end - place.begin > max_read_bytes) {
        defer(memory, task, fault_at(memory, task, place, column.position, row));
        return result;
    }
    const FieldText field = text_of(memory, text, task, place, false);
    if (field.n == 0 && !field.quoted && (column.flags & CONVERT_EMPTY_IS_NULL)) return result;
    if ((column.flags & CONVERT_FAST) && place.begin >= 0 && field.n - 1 < max_fast_bytes) {
        const u32 end = place.end - (field.quoted ? 1 : 0);
        result.present =
            fast_value(column, reinterpret_cast<const u32*>(memory.text), end, static_cast<u32>(field.n), result.value);
        if (result.present) return result;
    }
    u32 kind = 0;
    const FieldOutcome outcome = resolve_field(column, field, marks_of(task), result.value, kind);
    result.present = outcome == FieldOutcome::value;
    if (outcome == FieldOutcome::null || (outcome == FieldOutcome::value && kind != ROUNDED)) return result;
    FieldFault fault = fault_at(memory, task, place, column.position, row);
    if (outcome == FieldOutcome::kind || outcome == FieldOutcome::value) {
        record_kind(task, column, kind, fault.begin, row);
        return result;
    }
    if (is_not_converted(task, row)) return result;
    fault.kind = outcome == FieldOutcome::deferred  ? FAULT_DEFERRED
                 : outcome == FieldOutcome::invalid ? static_cast<u32>(Fault::type)
                                                    : static_cast<u32>(Fault::overflow);
    report(memory, task, fault);
    return result;
}

// Stores a value in the column.
template <class T>
HR_FN void put_value(const ConvertColumn& column, u64 row, T value) {
    reinterpret_cast<T*>(column.values)[row] = value;
}
HR_FN void put_sized(const ConvertColumn& column, u64 row, u64 value) {
    switch (column.width) {
        case 1:
            return put_value(column, row, static_cast<u8>(value));
        case 2:
            return put_value(column, row, static_cast<u16>(value));
        case 4:
            return put_value(column, row, static_cast<u32>(value));
        case 8:
            return put_value(column, row, value);
    }
}

// Converts groups of a unit field by field. These are groups of irregular tiles, of columns without a fast form, and
// those in which the fast form declined a field. `groups`: bit mask of the groups.
HR_COLD void convert_by_rules(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                              const ConvertColumn& column, u64 first_row, u32 groups) {
    for (; groups != 0; groups &= groups - 1) {
        const u64 row = first_row + 32 * (31 - static_cast<u32>(__clz(static_cast<int>(groups & (0 - groups)))));
        const RowField field = field_of_row(memory, task, memory.tile, memory.window, column.position, row);
        Converted converted{};
        if (field.mine) converted = by_rule(memory, text, task, column, field.slot, row, field.sound);
        const bool here = field.mine || field.missing;
        if (here && column.width == 16) put_value(column, row, converted.value);
        if (here && column.width != 16) put_sized(column, row, converted.value.low);
        const u32 rows = __ballot_sync(tile::all_lanes, here);
        put_validity(column.validity, row, rows, __ballot_sync(tile::all_lanes, converted.present));
        if (column.type != TypeId::boolean) continue;
        const u32 set = __ballot_sync(tile::all_lanes, converted.value.low != 0);
        put_bits(reinterpret_cast<u32*>(column.values), row, rows, set);
    }
}

}  // namespace headrace
