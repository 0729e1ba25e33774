// What the kernels are told that give texts another form (views.cu, dictionary.cu); texts_gpu.py packs the same
// structs. Pointers are to device memory.
#pragma once

#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// A column of strings.
struct PlainTexts {
    const u8* offsets;
    const u8* bytes;
    const u32* validity;  // or null: every row has a value
    u64 rows;
    u32 width;  // bytes of an offset
    u32 reserved;
};
static_assert(sizeof(PlainTexts) == 40);

HR_FN u64 text_begin(const PlainTexts& texts, u64 row) {
    return texts.width == 8 ? reinterpret_cast<const u64*>(texts.offsets)[row]
                            : reinterpret_cast<const u32*>(texts.offsets)[row];
}

HR_FN bool has_text(const PlainTexts& texts, u64 row) {
    return texts.validity == nullptr || (texts.validity[row / 32] >> (row % 32) & 1) != 0;
}

// Rows that a block takes, in turns of one a thread.
constexpr u32 TURNS = 8;

// Distinct texts by a table of slots with linear probing. A slot holds the first row of its text that was met so far,
// and in the end the first of all; ~0 where it is empty.
struct DistinctTexts {
    PlainTexts texts;
    u64* slots;
    u64 mask;    // slots, less one; they are at most 2^32
    u32* where;  // of each row with a text its slot
    u64 seed;    // differs from process to process, so that nobody can prepare texts that collide
    u64* taken;  // slots that are; more than half of all means that the table is to be larger
};
static_assert(sizeof(DistinctTexts) == 80);

HR_END_NAMESPACE
