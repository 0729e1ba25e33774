// Reads a column's values of a block of rows: integers are widened, bits become bytes, texts become references.
#include "arrange/filter/cpu/row_block.hpp"

namespace headrace {

namespace {

// Expands 8 bits to bytes of 0 or 1.
u64 bytes_of(u32 bits) {
    const u64 spread = bits * 0x0101010101010101ull & 0x8040201008040201ull;
    return (spread + 0x7F7F7F7F7F7F7F7Full) >> 7 & 0x0101010101010101ull;
}

void expand_bits(const u8* bits, u64 first, u64 count, u8* to) {
    u64 i = 0;
    const u64 shift = first % 8;
    for (; i + 8 <= count; i += 8) {
        const u8* const at = bits + (first + i) / 8;
        const u32 both = shift == 0 ? at[0] : at[0] | u32{at[1]} << 8;
        const u64 bytes = bytes_of(both >> shift & 255);
        std::memcpy(to + i, &bytes, 8);
    }
    for (; i < count; ++i) to[i] = bit_at(bits, first + i);
}

template <class Item, class Value>
void widen(const FilterColumn& column, RowBlock rows, StackSlot& to) {
    if constexpr (sizeof(Item) == sizeof(Value)) {
        to.values = static_cast<const Item*>(column.values) + column.first + rows.begin;
    } else {
        Value* const results = to.results<Value>();
        for (u64 i = 0; i < rows.count; ++i) results[i] = static_cast<Value>(item_of<Item>(column, rows.begin + i));
    }
}

void read_values(const FilterColumn& column, RowBlock rows, StackSlot& to) {
    switch (column.kind) {
        case FilterKind::integers:
            if (column.width == 1) return widen<i8, i64>(column, rows, to);
            if (column.width == 2) return widen<i16, i64>(column, rows, to);
            if (column.width == 4) return widen<i32, i64>(column, rows, to);
            return widen<i64, i64>(column, rows, to);
        case FilterKind::unsigned_integers:
            if (column.width == 1) return widen<u8, u64>(column, rows, to);
            if (column.width == 2) return widen<u16, u64>(column, rows, to);
            if (column.width == 4) return widen<u32, u64>(column, rows, to);
            return widen<u64, u64>(column, rows, to);
        case FilterKind::floats:
            if (column.width == 4) return widen<float, float>(column, rows, to);
            return widen<double, double>(column, rows, to);
        case FilterKind::decimals:
            return widen<Int128, Int128>(column, rows, to);
        default:
            return;
    }
}

// Reads texts that lie one after the other. A null has the text between its offsets. Returns the number of texts that
// begin 8 bytes before the end of the last one, or earlier.
template <class Offset>
u64 read_adjacent_texts(const FilterColumn& column, RowBlock rows, TextRef* texts) {
    const Offset* const offsets = static_cast<const Offset*>(column.offsets) + column.first + rows.begin;
    const auto* const bytes = static_cast<const u8*>(column.values);
    u64 begin = item_at_any(offsets);
    for (u64 i = 0; i < rows.count; ++i) {
        const u64 end = item_at_any(offsets + i + 1);
        texts[i] = {bytes + begin, end - begin};
        begin = end;
    }
    u64 readable = rows.count;
    while (readable > 0 && bytes + begin - texts[readable - 1].bytes < 8) --readable;
    return readable;
}

void read_texts(const FilterColumn& column, RowBlock rows, StackSlot& to) {
    auto* const texts = to.results<TextRef>();
    if (column.kind == FilterKind::texts && column.codes == nullptr) {
        to.readable_texts = column.width == 4 ? read_adjacent_texts<u32>(column, rows, texts)
                                              : read_adjacent_texts<u64>(column, rows, texts);
        return;
    }
    alignas(8) static constexpr u8 none[8] = {};
    for (u64 i = 0; i < rows.count; ++i) {
        texts[i] = to.valid[i] != 0 ? text_of(column, rows.begin + i) : TextRef{none, 0};
    }
    // A view has room for 12 bytes, and a longer text more than 12.
    if (column.codes == nullptr) to.readable_texts = rows.count;
}

}  // namespace

void read_column(const FilterColumn& column, RowBlock rows, StackSlot& to) {
    to.hold_values();
    to.readable_texts = 0;
    if (column.kind == FilterKind::nulls) {
        std::memset(to.valid, 0, rows.count);
        std::memset(to.words, 0, sizeof(to.words));
        return;
    }
    if (column.validity == nullptr) {
        std::memset(to.valid, 1, rows.count);
    } else {
        expand_bits(column.validity, column.first + rows.begin, rows.count, to.valid);
    }
    if (column.kind == FilterKind::bits) {
        expand_bits(static_cast<const u8*>(column.values), column.first + rows.begin, rows.count, to.truths());
        for (u64 i = 0; i < rows.count; ++i) to.truths()[i] &= to.valid[i];
    } else if (column.kind == FilterKind::texts || column.kind == FilterKind::views) {
        read_texts(column, rows, to);
    } else {
        read_values(column, rows, to);
    }
}

}  // namespace headrace
