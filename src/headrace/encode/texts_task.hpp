// Declares the arguments of views.cu and dictionary.cu. Pointers are to device memory.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// A column of strings in Arrow's layout.
struct PlainTexts {
    const u8* offsets;
    const u8* bytes;
    const u32* validity;  // bits; null if no row is null
    u64 rows;
    u32 width;  // bytes per offset
    u32 reserved;
};

HR_FN u64 text_begin(const PlainTexts& texts, u64 row) {
    return texts.width == 8 ? reinterpret_cast<const u64*>(texts.offsets)[row]
                            : reinterpret_cast<const u32*>(texts.offsets)[row];
}

HR_FN bool has_text(const PlainTexts& texts, u64 row) {
    return texts.validity == nullptr || (texts.validity[row / 32] >> (row % 32) & 1) != 0;
}

// Rows per thread, one in each turn of the block.
constexpr u32 TURNS = 8;

// The distinct texts of a column: a hash table with linear probing. A slot has the smallest row number of its text
// among the inserted rows, or ~0 if it is empty.
struct DistinctTexts {
    PlainTexts texts;
    u64* slots;
    u64 mask;         // number of slots minus 1; at most 2^32 slots
    u32* where;       // slot of each row that is not null, then the code of each row
    u64 seed;         // differs from process to process, so that colliding texts cannot be prepared
    u64* used_slots;  // number of used slots; if it exceeds half of all, the table is too small
    u32* codes;       // code of each slot
    u64* rows;        // first row of each text
};

// A dictionary as a column of strings. The sizes before text k are begins[k * stride].
struct GatheredTexts {
    PlainTexts texts;
    const u64* rows;  // first row of each text
    const u64* begins;
    u64 stride, count, bytes;
    u32* offsets;
    u8* values;
};

// Columns that one launch encodes; blockIdx.y is the column's index.
constexpr u32 MAX_TOGETHER = 4;
struct DistinctTextsOfColumns {
    DistinctTexts columns[MAX_TOGETHER];
};
struct GatheredTextsOfColumns {
    GatheredTexts columns[MAX_TOGETHER];
};

HR_END_NAMESPACE
