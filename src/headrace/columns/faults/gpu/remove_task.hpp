// Declares the arguments of the kernels that remove rows from columns (remove_rows.cu) and store single values
// (store_values.cu). Pointers are to device memory.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// The buffers of a column before and after. Before the launch all new buffers are zero, except `bytes_to` and values of
// fixed width, which may be uninitialised.
struct RemovalColumn {
    const u8* from;  // values of fixed width, words of bits, or offsets
    u8* to;
    const u32* validity;
    u32* validity_to;
    const u8* bytes;  // strings only
    u8* bytes_to;
    u32 width;     // bytes of a value or an offset; 0: bits
    u32 width_to;  // bytes of an offset
    u32 string;    // index among the string columns, which come first; or NO_STRING
    u32 reserved;
};
constexpr u32 NO_STRING = ~u32{0};

// Arguments that all columns share. Row r of the result is row r + k, where k removed rows precede it. With
// `keeps_rows` it is row r, and only the string bytes of the listed rows are removed.
struct RemovalTask {
    const u64* removed;  // row indices, ascending
    u64 removed_count;
    u64 rows;                  // before
    const u64* removed_bytes;  // [k * strings + string]: string bytes of the first k removed rows
    const u64* totals;         // [string]: string bytes of all removed rows
    u32 strings;               // number of string columns
    u32 keeps_rows;
};

// A value that the conversion left to the host, or a null.
struct StoredValue {
    u64 row;
    u64 low, high;  // the value; its first bytes count, as many as the column's width
    u32 column;     // index in the table
    u32 is_null;
};

HR_END_NAMESPACE
