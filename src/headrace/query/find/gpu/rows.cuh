// Loads a text in rows of 32 vectors of 16 bytes, a vector a lane. A warp has a contiguous part of the text, of which
// all rows are loaded before the first is used. The words after a lane's vector come from the next lane by a shuffle.
// The L1 cache keeps the rows, because verification reads some of their bytes again.
// Bytes moved per byte of text: 1.
#pragma once
#include "query/find/gpu/text.cuh"

namespace headrace {

// The warp's rows, and in lane 0 the vector after them.
template <u32 rows>
struct WarpRows {
    static constexpr u32 vectors = rows * tile::lanes;
    uint4 row[rows];
    uint4 after;
};

// Number of the warp's first vector.
template <u32 rows, u32 threads>
HR_FN u64 first_vector() {
    return (static_cast<u64>(blockIdx.x) * (threads / tile::lanes) + tile::warp()) * WarpRows<rows>::vectors;
}

// A vector's four words and `extra_words` words after it.
template <u32 extra_words>
struct TextWords {
    static constexpr u32 count = 4 + extra_words;
    u32 word[count];
    // Four bytes from byte `at` on.
    HR_MEMBER u32 window(u32 at) const {
        return at % 4 == 0 ? word[at / 4] : __funnelshift_r(word[at / 4], word[at / 4 + 1], at % 4 * 8);
    }
};

// Whether the rows from vector `first` on, and the vector after them, lie in the text. Vector 0 has its first byte.
template <u32 rows>
HR_FN bool has_rows(const u8* bytes, u64 size, u64 first) {
    const u32 shift = shift_of(bytes);
    return first * 16 >= shift && (first + WarpRows<rows>::vectors + 1) * 16 <= shift + size;
}

// Loads rows that lie in the text.
template <u32 extra_words, u32 rows>
HR_FN void load_inside(WarpRows<rows>& text, const u8* bytes, u64 first) {
    const uint4* const from = reinterpret_cast<const uint4*>(bytes - shift_of(bytes)) + first;
#pragma unroll
    for (u32 row = 0; row < rows; ++row) text.row[row] = __ldg(from + row * tile::lanes + tile::lane());
    if (extra_words > 0 && tile::lane() == 0) text.after = from[WarpRows<rows>::vectors];
}

// Loads the rows from vector `first` on. `calls`: whether a function is called at the ends of the text. It takes fewer
// instructions, but registers of the usual case may be spilled for it.
template <u32 extra_words, bool calls = true, u32 rows>
HR_FN void load_text(WarpRows<rows>& text, const u8* bytes, u64 size, u64 first) {
    constexpr u32 vectors = WarpRows<rows>::vectors;
    text.after = {0, 0, 0, 0};
    if (has_rows<rows>(bytes, size, first)) {
        load_inside<extra_words>(text, bytes, first);
    } else {
        const i64 begin = static_cast<i64>(first * 16) - shift_of(bytes), end = static_cast<i64>(size);
        const auto part = [&](i64 at) { return calls ? partial_vector(bytes, end, at) : bytes_inside(bytes, end, at); };
#pragma unroll
        for (u32 row = 0; row < rows; ++row) text.row[row] = part(begin + (row * tile::lanes + tile::lane()) * 16);
        if (extra_words > 0 && tile::lane() == 0) text.after = part(begin + vectors * 16);
    }
}

template <u32 extra_words, u32 rows>
HR_FN TextWords<extra_words> words_of(const WarpRows<rows>& text, u32 row) {
    const uint4 own = text.row[row];
    const uint4 first = row + 1 < rows ? text.row[row + 1 < rows ? row + 1 : 0] : text.after;
    TextWords<extra_words> words;
    words.word[0] = own.x;
    words.word[1] = own.y;
    words.word[2] = own.z;
    words.word[3] = own.w;
    // The lane after the last one is lane 0 of the next row.
    const u32 given[4] = {tile::lane() == 0 ? first.x : own.x, tile::lane() == 0 ? first.y : own.y,
                          tile::lane() == 0 ? first.z : own.z, tile::lane() == 0 ? first.w : own.w};
#pragma unroll
    for (u32 i = 0; i + 4 < TextWords<extra_words>::count; ++i)
        words.word[4 + i] = tile::shuffle(given[i], (tile::lane() + 1) % tile::lanes);
    return words;
}

}  // namespace headrace
