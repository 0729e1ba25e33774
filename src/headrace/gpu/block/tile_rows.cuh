// Keeps a tile in registers as rows. A warp's part of the tile is contiguous. In each row of it, a lane has the 16
// bytes that follow those of the preceding lane, so loads are 16 bytes wide and coalesced. The order of the items is
// row, lane, index in the vector. Bytes moved: those of the items, once.
//
// A block's tile of 256 threads x 4 rows x 4 items of 4 bytes, for example: warp 3, row 1, lane 2 has items 1672 to
// 1675 (3 x 512 + 128 + 8).
#pragma once
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"

namespace headrace::tile {

template <class T>
constexpr u32 per_vector = 16 / sizeof(T);

template <class T>
struct alignas(16) Vector {
    T item[per_vector<T>];
};

template <class T, u32 rows>
struct Rows {
    Vector<T> row[rows];
};

// Returns whether both addresses are aligned to 16 bytes; a null pointer counts as aligned.
HR_FN bool aligned(const void* a, const void* b = nullptr) {
    return ((reinterpret_cast<u64>(a) | reinterpret_cast<u64>(b)) & 15) == 0;
}

// Returns the index in the tile of the first item of this thread's row.
template <class T, u32 rows>
HR_FN u32 row_begin(u32 row) {
    return ((warp() * rows + row) * lanes + lane()) * per_vector<T>;
}

// Loads this thread's rows of a tile. `in`: the tile's first item. `count`: items from there on; the ones past them
// load as `missing`. `whole`: the tile has all its items and is aligned to 16 bytes.
template <class T, u32 rows>
HR_FN void load_rows(Rows<T, rows>& items, const T* in, i64 count, bool whole, T missing) {
    if (whole) {
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
            const T* at = in + row_begin<T, rows>(row);
            items.row[row] = bits_as<Vector<T>>(load_streaming(reinterpret_cast<const uint4*>(at)));
        }
    } else {
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
#pragma unroll
            for (u32 k = 0; k < per_vector<T>; ++k) {
                const u32 at = row_begin<T, rows>(row) + k;
                items.row[row].item[k] = at < count ? in[at] : missing;
            }
        }
    }
}

}  // namespace headrace::tile
