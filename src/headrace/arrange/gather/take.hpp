// Items, bits and texts by the numbers of their rows, in that order: rules for CPU and GPU, and the CPU's interface.
// Nobody looks whether rows are there: who makes their numbers does.
#pragma once
#include "core/cpu/portable.hpp"

HR_BEGIN_NAMESPACE

// Texts as Arrow has them; row 0 is that of number `first` in memory.
struct Texts {
    const void* offsets;
    const u8* bytes;
    u64 first;
    u32 width;  // bytes of an offset
    u32 unused;
};
static_assert(sizeof(Texts) == 32);

// Where the text of a row begins; of the one behind the last, where the last ends.
HR_FN u64 text_begin(const Texts& texts, u64 row) {
    const u8* const at = static_cast<const u8*>(texts.offsets) + (texts.first + row) * texts.width;
    return texts.width == 8 ? item_at_any(reinterpret_cast<const u64*>(at))
                            : item_at_any(reinterpret_cast<const u32*>(at));
}

HR_FN u64 text_size(const Texts& texts, u64 row) { return text_begin(texts, row + 1) - text_begin(texts, row); }

// What 4 bytes of an offset can tell.
constexpr u64 most_of_offset = 0x7FFFFFFF;

HR_FN bool bit_at(const u8* bits, u64 place) { return (bits[place / 8] >> (place % 8) & 1) != 0; }

HR_END_NAMESPACE
