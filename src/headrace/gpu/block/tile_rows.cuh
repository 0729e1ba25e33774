// A tile in registers as rows: a warp's part of it is contiguous, and in each of its rows a lane has the 16 bytes that
// follow those of the lane before. So loads are 16 bytes wide and coalesced as they are, and the items'
// order is row, lane, place in the vector. Bytes moved: those of the items, once.
//
// A block's tile of 256 threads x 4 rows x 4 items of 4 bytes, for example: warp 3, row 1, lane 2 has items 1672 to
// 1675 (3 x 512 + 128 + 8).
#pragma once
#include "gpu/block/memory_access.cuh"
#include "gpu/block/warp.cuh"

namespace headrace {
namespace tile {

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

// Are these addresses, null ones too, at 16-byte boundaries?
__device__ __forceinline__ bool aligned(const void* a, const void* b = nullptr) {
    return ((reinterpret_cast<u64>(a) | reinterpret_cast<u64>(b)) & 15) == 0;
}

// Where this thread's row begins, in items from the tile's first.
template <class T, u32 rows>
__device__ __forceinline__ u32 row_begin(u32 row) {
    return ((warp() * rows + row) * lanes + lane()) * per_vector<T>;
}

// Items from `begin` on; those at `end` and behind are `missing`. `whole`: all are there, at a 16-byte boundary.
template <class T, u32 rows>
__device__ __forceinline__ void load_rows(Rows<T, rows>& items, const T* in, i64 count, bool whole, T missing) {
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

}  // namespace tile
}  // namespace headrace
