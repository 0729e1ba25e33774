// Declares the arguments of the kernels that remove rows from columns (remove_rows.cu), store single values
// (store_values.cu) and replace texts in a string column (patch_strings.cu). Pointers are to device memory.
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

// Row rows[k] receives bytes [ends[k], ends[k + 1]) of `texts`. shifts[k]: distance, modulo 2^64, by which texts move
// that follow exactly k such rows; shifts[count]: the total.
struct PatchTask {
    const u64* rows;  // row indices, ascending
    u64 count;
    const u64* ends;
    const u8* texts;
    u64* shifts;
    const u8* offsets;  // before
    u8* offsets_to;
    const u8* bytes;  // before
    u8* bytes_to;
    u32* validity;  // set to 1 for rows that receive a text
    u64 length;     // rows of the column
    u32 width;      // bytes of an offset
    u32 width_to;
};

HR_END_NAMESPACE
