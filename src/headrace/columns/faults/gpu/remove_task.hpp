// What the kernels that take rows out of columns (remove_rows.cu) and put single values in (store_values.cu) are told;
// remove_rows.py packs the same structs. Pointers are to device memory.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// A column before and after. All but `bytes_to` and whole values are zero before the launch.
struct DroppedColumn {
    const u8* from;  // values of fixed width, words of bits, or offsets
    u8* to;
    const u32* validity;
    u32* validity_to;
    const u8* bytes;  // of strings
    u8* bytes_to;
    u32 width;     // bytes of a value or an offset; 0: bits
    u32 width_to;  // of an offset
    u32 string;    // number of the column among those of strings, which come first; NO_STRING
    u32 reserved;
};
static_assert(sizeof(DroppedColumn) == 64);
constexpr u32 NO_STRING = ~u32{0};

// What all columns share. Row r of the result is row r + k where k rows before it go; or row r, if only their bytes go.
struct DropTask {
    const u64* gone;  // rows that go, ascending
    u64 gone_count;
    u64 rows;            // before
    const u64* dropped;  // [k * strings + string]: bytes of the first k rows that go
    const u64* totals;   // [string]: of all of them
    u32 strings;
    u32 keeps_rows;
};
static_assert(sizeof(DropTask) == 48);

// A value that a kernel of the conversion left to the host, or that there is none.
struct PutValue {
    u64 row;
    u64 low, high;  // the value, of as many bytes as the column's have
    u32 column;     // in the table
    u32 is_null;
};
static_assert(sizeof(PutValue) == 32);

HR_END_NAMESPACE
