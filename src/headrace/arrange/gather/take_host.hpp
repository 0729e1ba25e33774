// Gathers rows of columns in host memory: the CPU counterpart of arrange/gather/take.cu.
#pragma once
#include "arrange/gather/take.hpp"

namespace headrace {

struct RowNumbers {
    const u64* number;
    u64 count;
};

// Gathers items of any width. Bytes moved per row of width w: 8 + 2 w.
void take_items(const RowNumbers& rows, const void* from, void* to, unsigned width, unsigned threads);

// Gathers bits, least significant first; row 0 is bit `first` of `bits`. Bits after the last row are 0. Returns the
// number of set bits in the result.
u64 take_bits(const RowNumbers& rows, const u8* bits, u64 first, u8* to, unsigned threads);

// Writes the offsets of the gathered texts, and the end, in the width of the source's offsets. Returns the bytes of the
// texts; if that exceeds offsets of 4 bytes, the offsets are undefined.
u64 place_texts(const RowNumbers& rows, const Texts& texts, void* offsets, unsigned threads);

// Copies the texts to the positions in `offsets`.
void take_texts(const RowNumbers& rows, const Texts& texts, const void* offsets, u8* to, unsigned threads);

}  // namespace headrace
