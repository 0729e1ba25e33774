// Defines how CPU and GPU read the text of a row. Row numbers are not checked here; their producer checks them.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Texts in Arrow's layout; row 0 is number `first` in memory.
struct Texts {
    const void* offsets;
    const u8* bytes;
    u64 first;
    u32 width;  // bytes per offset
    u32 unused;
};
static_assert(sizeof(Texts) == 32);

// Returns where the text of a row begins; for the row after the last, where the last text ends.
HR_FN u64 text_begin(const Texts& texts, u64 row) {
    const u8* const at = static_cast<const u8*>(texts.offsets) + (texts.first + row) * texts.width;
    return texts.width == 8 ? item_at_any(reinterpret_cast<const u64*>(at))
                            : item_at_any(reinterpret_cast<const u32*>(at));
}

HR_FN u64 text_size(const Texts& texts, u64 row) { return text_begin(texts, row + 1) - text_begin(texts, row); }

// Maximum offset of 4 bytes.
constexpr u64 max_offset = 0x7FFFFFFF;

HR_FN bool bit_at(const u8* bits, u64 place) { return (bits[place / 8] >> (place % 8) & 1) != 0; }

HR_END_NAMESPACE
