// Gathers columns by row number after a sort, for values that are too wide to move in each pass. Reads are scattered,
// writes are not. Also converts row numbers to another width.
//
// Bytes moved per item of width w and row number of width r: r + 2 w, of which w are read in sectors of 32 bytes.
#include "arrange/sort/gpu/common/device_plan.cuh"
#include "gpu/block/memory_access.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

// Returns the row at a position; without rows, the position.
HR_FN u64 row_at(const void* rows, u32 row_bytes, u64 at) {
    if (rows == nullptr) return at;
    return row_bytes == 4 ? static_cast<const u32*>(rows)[at] : static_cast<const u64*>(rows)[at];
}

template <class Item>
HR_FN void gather(const void* rows, u32 row_bytes, u64 count, const void* from, void* to) {
    const u64 step = static_cast<u64>(gridDim.x) * threads;
    for (u64 at = static_cast<u64>(blockIdx.x) * threads + threadIdx.x; at < count; at += step) {
        static_cast<Item*>(to)[at] = static_cast<const Item*>(from)[row_at(rows, row_bytes, at)];
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    sort_gather(const void* rows, u32 row_bytes, u64 count, const void* from, void* to, u32 width) {
    if (width == 1) gather<u8>(rows, row_bytes, count, from, to);
    if (width == 2) gather<u16>(rows, row_bytes, count, from, to);
    if (width == 4) gather<u32>(rows, row_bytes, count, from, to);
    if (width == 8) gather<u64>(rows, row_bytes, count, from, to);
    if (width == 16) gather<uint4>(rows, row_bytes, count, from, to);
}

extern "C" __global__ void __launch_bounds__(threads)
    convert_rows(const void* rows, u32 row_bytes, u64 count, void* to, u32 width) {
    const u64 step = static_cast<u64>(gridDim.x) * threads;
    for (u64 at = static_cast<u64>(blockIdx.x) * threads + threadIdx.x; at < count; at += step) {
        const u64 row = row_at(rows, row_bytes, at);
        if (width == 4) static_cast<u32*>(to)[at] = static_cast<u32>(row);
        if (width == 8) static_cast<u64*>(to)[at] = row;
    }
}
