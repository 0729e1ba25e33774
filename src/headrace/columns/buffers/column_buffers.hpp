// Defines the buffers of one column in host memory, and their element sizes.
#pragma once

#include <optional>
#include <string>

#include "columns/rules/column_type.hpp"
#include "core/cpu/memory.hpp"

namespace headrace {

// A field that decided something about its column.
struct Evidence {
    std::uint64_t record;  // number of the data record, from 1
    std::uint64_t at;      // byte of the source
    std::string text;      // first bytes of the field
    u32 file = 0;
};

// Distinct texts as Arrow's strings.
struct LoadedTexts {
    Region values, offsets;
    u64 count = 0;
};

struct LoadedColumn {
    ColumnType type;
    bool views = false;                     // strings as Arrow's views
    Region values;                          // for strings, their bytes; for views, those of texts that are not inline
    Region offsets;                         // strings only; for views, these
    Region validity;                        // bit 1: valid; empty if there are no nulls
    std::optional<LoadedTexts> dictionary;  // of a column of codes, which are int32
    u64 null_count = 0;
    u64 replaced = 0;                  // strings mended with U+FFFD, including those of rejected rows
    std::optional<Evidence> evidence;  // inferred columns: the record that decided the type
    std::optional<Evidence> rounded;   // inferred floats: the first integer that float64 cannot represent
};

// Return the bits of one value, or of one offset if the column has offsets.
usize value_bits(const ColumnType& type);

// Return the bytes of a column's offsets or views.
usize offset_bytes(const LoadedColumn& column, usize rows);

// Return whether the column has offsets: text or bytes.
bool is_string(const ColumnType& type);

// Return the type with 64-bit offsets, or with 32-bit offsets. Types without offsets are returned unchanged.
TypeId large_form(TypeId id);
TypeId small_form(TypeId id);

// Merge a word of bits into a bitmap, from any bit. Two writers may share a word at their border, hence the atomic or.
inline void add_bits(u64* words, u64 at, u64 bits) {
    const auto add = [](u64* word, u64 more) {
        if (more != 0) __atomic_fetch_or(word, more, __ATOMIC_RELAXED);
    };
    add(words + at / 64, bits << (at % 64));
    if (at % 64 != 0) add(words + at / 64 + 1, bits >> (64 - at % 64));
}

}  // namespace headrace
