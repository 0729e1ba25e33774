// Columns as Arrow wants them.
#pragma once

#include "columns/buffers/column_buffers.hpp"
#include "columns/rules/utf8.hpp"
#include "fuzz.hpp"

namespace fuzz {

using namespace headrace;

inline bool bit(const Region& region, u64 at) { return region.as<u8>()[at / 8] >> (at % 8) & 1; }

// Bits after the last are zero.
inline void check_bits(const Region& region, u64 rows) {
    REQUIRE(region.size() >= (rows + 7) / 8);
    for (u64 at = rows; at < region.size() * 8; ++at) REQUIRE(!bit(region, at));
}

template <class Offset>
void check_strings(const LoadedColumn& column, u64 rows) {
    const Offset* const offsets = column.offsets.as<Offset>();
    const u8* const bytes = column.values.as<u8>();
    const bool is_text = column.type.id == TypeId::string || column.type.id == TypeId::large_string;
    REQUIRE(column.offsets.size() >= (rows + 1) * sizeof(Offset));
    REQUIRE(offsets[0] == 0);
    for (u64 row = 0; row < rows; ++row) {
        REQUIRE(offsets[row] <= offsets[row + 1]);
        const usize size = static_cast<usize>(offsets[row + 1] - offsets[row]);
        if (is_text) REQUIRE(find_invalid_utf8(bytes + offsets[row], size) == size);
        if (column.validity.data() != nullptr && !bit(column.validity, row)) REQUIRE(size == 0);
    }
    REQUIRE(static_cast<usize>(offsets[rows]) <= column.values.size());
}

inline void check_column(const LoadedColumn& column, u64 rows) {
    u64 nulls = 0;
    if (column.validity.data() != nullptr) {
        check_bits(column.validity, rows);
        for (u64 row = 0; row < rows; ++row) nulls += !bit(column.validity, row);
    }
    const usize bits = value_bits(column.type);
    REQUIRE(nulls == column.null_count || bits == 0);
    if (is_string(column.type)) {
        if (bits == 32) {
            check_strings<i32>(column, rows);
        } else {
            check_strings<i64>(column, rows);
        }
    } else if (bits == 1) {
        check_bits(column.values, rows);
    } else {
        REQUIRE(column.values.size() >= rows * bits / 8);
    }
}

}  // namespace fuzz
