// Moves the columns of a bucket by row. A column's items are copied to shared memory in their order, and each place
// reads its item there. So device memory is read and written in order. Works in place.
#pragma once
#include "arrange/sort/gpu/msd/bin_sort.cuh"

namespace headrace {

constexpr u32 stage_bytes = 8;  // of shared memory for each key

struct RowOrder {
    const u16* row;  // source row of each place
    void* stage;
    u64 begin;
    u32 count;
};

template <class Word>
HR_FN void move_plane(const Word* in, Word* out, u32 planes, const RowOrder& rows) {
    Word* const stage = static_cast<Word*>(rows.stage);
#pragma unroll 6
    for (u32 at = threadIdx.x; at < rows.count; at += threads) stage[at] = in[at * planes];
    __syncthreads();
#pragma unroll 6
    for (u32 at = threadIdx.x; at < rows.count; at += threads) out[at * planes] = stage[rows.row[at]];
    __syncthreads();
}

template <class Word>
HR_FN void move_items(const void* from, void* to, u32 planes, const RowOrder& rows) {
    const Word* const in = static_cast<const Word*>(from) + rows.begin * planes;
    Word* const out = static_cast<Word*>(to) + rows.begin * planes;
#pragma unroll 1
    for (u32 plane = 0; plane < planes; ++plane) move_plane(in + plane, out + plane, planes, rows);
}

template <class Row>
HR_FN void write_rows(void* to, const RowOrder& rows) {
    Row* const out = static_cast<Row*>(to) + rows.begin;
    for (u32 at = threadIdx.x; at < rows.count; at += threads) out[at] = static_cast<Row>(rows.begin + rows.row[at]);
}

HR_FN void move_column(const MovedColumn& moved, const Leaf& leaf, const RowOrder& rows) {
    const void* const from = moved.from(leaf.from());
    void* const to = moved.to(leaf.to());
    const u32 width = moved.width;
    if (from == nullptr) {
        if (width == 4) write_rows<u32>(to, rows);
        if (width == 8) write_rows<u64>(to, rows);
        return;
    }
    if (width == 1) move_items<u8>(from, to, 1, rows);
    if (width == 2) move_items<u16>(from, to, 1, rows);
    if (width == 4) move_items<u32>(from, to, 1, rows);
    if (width >= 8) move_items<u64>(from, to, width / 8, rows);
}

}  // namespace headrace
