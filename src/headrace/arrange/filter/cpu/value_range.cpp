// Finds the minimum and the maximum of a column, block by block, with the readers of conditions.
#include "arrange/filter/cpu/value_range.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "arrange/filter/cpu/row_block.hpp"

namespace headrace {

namespace {

template <class Value>
bool is_less(Value a, Value b) {
    return a < b;
}

bool is_less(Int128 a, Int128 b) { return order_of(a, b) < 0; }

bool is_less(TextRef a, TextRef b) {
    const int order = std::memcmp(a.bytes, b.bytes, std::min(a.size, b.size));
    return order != 0 ? order < 0 : a.size < b.size;
}

template <class Value>
bool is_ordered(Value value) {
    if constexpr (std::is_floating_point_v<Value>) return value == value;
    return true;
}

template <class Value>
ValueRange range_of(const FilterColumn& column, u64 rows) {
    const auto slot = std::make_unique<StackSlot>();
    ValueRange found;
    Value low{}, high{};
    for (u64 begin = 0; begin < rows; begin += block_rows) {
        const u64 count = std::min(block_rows, rows - begin);
        read_column(column, {begin, count}, *slot);
        for (u64 i = 0; i < count; ++i) {
            if (slot->valid[i] == 0) continue;
            const Value value = slot->at<Value>(i);
            if (!is_ordered(value)) continue;
            const bool is_first = found.low == ValueRange::no_row;
            if (is_first || is_less(value, low)) {
                low = value;
                found.low = begin + i;
            }
            if (is_first || is_less(high, value)) {
                high = value;
                found.high = begin + i;
            }
        }
    }
    return found;
}

}  // namespace

ValueRange value_range(const FilterColumn& column, u64 rows) {
    switch (column.kind) {
        case FilterKind::bits:
            return range_of<u8>(column, rows);
        case FilterKind::integers:
            return range_of<i64>(column, rows);
        case FilterKind::unsigned_integers:
            return range_of<u64>(column, rows);
        case FilterKind::floats:
            return column.width == 4 ? range_of<float>(column, rows) : range_of<double>(column, rows);
        case FilterKind::decimals:
            return range_of<Int128>(column, rows);
        case FilterKind::texts:
        case FilterKind::views:
            return range_of<TextRef>(column, rows);
        case FilterKind::nulls:
            break;
    }
    return {};
}

}  // namespace headrace
