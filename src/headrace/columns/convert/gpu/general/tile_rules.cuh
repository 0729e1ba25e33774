// Converts fields of fixed width one by one, by the shared rules: those without a fast form and those that it declined.
#pragma once

#include "columns/convert/gpu/general/tile_rows.cuh"

namespace headrace {

// A value, and whether it is present; zero if it is not.
struct Converted {
    Int128 value;
    bool present;
};

// Converts a field's text by the shared rules. `fault_at()`: returns the field's place in the text, for reports.
template <class FaultAt>
HR_FN Converted convert_text(const ConvertMemory& memory, const ConvertTask& task, const ConvertColumn& column,
                             const FieldText& field, u64 row, const FaultAt& fault_at) {
    Converted result{};
    if (field.n == 0 && !field.quoted && (column.flags & CONVERT_EMPTY_IS_NULL)) return result;
    u32 kind = 0;
    const FieldOutcome outcome = resolve_field(column, field, marks_of(task), result.value, kind);
    result.present = outcome == FieldOutcome::value;
    if (outcome == FieldOutcome::null || (outcome == FieldOutcome::value && kind != ROUNDED)) return result;
    FieldFault fault = fault_at();
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
    const auto fault = [&] { return fault_at(memory, task, place, column.position, row); };
    return convert_text(memory, task, column, field, row, fault);
}

// Stores a value in the column: a ConvertColumn or a LoopColumn. Bools are stored as words of bits.
template <class Column>
HR_FN void put_sized(const Column& column, u64 row, Int128 value) {
    switch (column.width) {
        case 1:
            column.values[row] = static_cast<u8>(value.low);
            break;
        case 2:
            reinterpret_cast<u16*>(column.values)[row] = static_cast<u16>(value.low);
            break;
        case 4:
            reinterpret_cast<u32*>(column.values)[row] = static_cast<u32>(value.low);
            break;
        case 8:
            reinterpret_cast<u64*>(column.values)[row] = value.low;
            break;
        case 16:
            reinterpret_cast<Int128*>(column.values)[row] = value;
            break;
    }
}

// Stores a value in a row for which a null was stored.
HR_FN void put_over_null(const ConvertColumn& column, u64 row, Int128 value) {
    const u32 bit = 1u << (row % 32);
    put_sized(column, row, value);
    atomicOr(&column.validity[row / 32], bit);
    if (column.type == TypeId::boolean && value.low != 0) {
        atomicOr(reinterpret_cast<u32*>(column.values) + row / 32, bit);
    }
}

// The bits of a column before they are stored. The fast path may have changed bits of a tile before it declined it.
enum class BitsBefore : u8 { any, zeros, ones };

HR_FN BitsBefore validity_before(const ConvertTile& tile) {
    return tile.untouched ? BitsBefore::ones : BitsBefore::any;
}
HR_FN BitsBefore bools_before(const ConvertTile& tile) { return tile.untouched ? BitsBefore::zeros : BitsBefore::any; }

// Stores a word of bits, of which this tile has those in `rows`. A word that other tiles share is updated atomically.
HR_FN void store_bits(u32* word, u32 rows, u32 bits, BitsBefore before) {
    const u32 zeros = rows & ~bits;
    if (rows == ~0u) {
        *word = bits;
        return;
    }
    if (bits != 0 && before != BitsBefore::ones) atomicOr(word, bits);
    if (zeros != 0 && before != BitsBefore::zeros) atomicAnd(word, ~zeros);
}

// Converts groups of a unit field by field. These are groups of columns without forms, and those whose declined fields
// do not fit in the list. `groups`: bit mask of the groups.
HR_COLD void convert_by_rules(const ConvertMemory& memory, const u8* text, const ConvertTask& task,
                              const ConvertColumn& column, u64 first_row, u32 groups) {
    for (; groups != 0; groups &= groups - 1) {
        const u64 row = first_row + 32 * (31 - static_cast<u32>(__clz(static_cast<int>(groups & (0 - groups)))));
        const RowField field = field_of_row(memory, task, memory.tile, memory.window, column.position, row);
        Converted converted{};
        if (field.mine) converted = by_rule(memory, text, task, column, field.slot, row, field.sound);
        const bool here = field.mine || field.missing;
        if (here) put_sized(column, row, converted.value);
        const u32 rows = __ballot_sync(tile::all_lanes, here);
        const u32 present = __ballot_sync(tile::all_lanes, converted.present);
        const u32 set = __ballot_sync(tile::all_lanes, converted.value.low != 0);
        if (tile::lane() != 0) continue;
        store_bits(column.validity + row / 32, rows, present, validity_before(memory.tile));
        if (column.type != TypeId::boolean) continue;
        store_bits(reinterpret_cast<u32*>(column.values) + row / 32, rows, set, bools_before(memory.tile));
    }
}

}  // namespace headrace
