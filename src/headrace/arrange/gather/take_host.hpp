// Rows of columns of host memory: the twin of arrange/gather/take.cu.
#pragma once
#include "arrange/gather/take.hpp"

namespace headrace {

struct RowNumbers {
    const u64* number;
    u64 count;
};

// Items of any width. Bytes moved per row of width w: 8 + 2 w.
void take_items(const RowNumbers& rows, const void* from, void* to, unsigned width, unsigned threads);

// Bits, the first of which is bit `first` of `bits`, least significant first; what is behind the last is 0. Returns how
// many of those taken are set.
u64 take_bits(const RowNumbers& rows, const u8* bits, u64 first, u8* to, unsigned threads);

// Where the texts go that are taken, and the end, as offsets of the same width. Returns how many bytes they are; if
// offsets of 4 bytes cannot tell that, nothing is written.
u64 place_texts(const RowNumbers& rows, const Texts& texts, void* offsets, unsigned threads);

// The texts to where `offsets` tell.
void take_texts(const RowNumbers& rows, const Texts& texts, const void* offsets, u8* to, unsigned threads);

}  // namespace headrace
