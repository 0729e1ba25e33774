// Replaces the texts of some rows of a string column. There are few such rows, so the bytes between two of them move
// together. Each row, and each 16 bytes, search the sorted list of these rows for the distance.
//
// Bytes moved: the column once in and once out; a search of the list for each row and each 16 bytes.
#include "columns/faults/gpu/column_tasks.hpp"
#include "gpu/block/partition_point.cuh"
#include "gpu/block/warp.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 piece_bytes = 16;

HR_FN u64 offset_at(const PatchTask& task, u64 row) {
    return task.width == 8 ? reinterpret_cast<const u64*>(task.offsets)[row]
                           : reinterpret_cast<const u32*>(task.offsets)[row];
}

// Writes the growth of the k-th row's text to shifts[k]. A scan then turns these into the distances of PatchTask.
extern "C" __global__ void __launch_bounds__(threads) size_patches(const __grid_constant__ PatchTask task) {
    const u64 k = u64{blockIdx.x} * threads + threadIdx.x;
    if (k >= task.count) return;
    const u64 before = offset_at(task, task.rows[k] + 1) - offset_at(task, task.rows[k]);
    task.shifts[k] = task.ends[k + 1] - task.ends[k] - before;
}

// Writes the offsets of the result.
extern "C" __global__ void __launch_bounds__(threads) shift_offsets(const __grid_constant__ PatchTask task) {
    const u64 step = u64{gridDim.x} * threads;
    for (u64 row = u64{blockIdx.x} * threads + threadIdx.x; row <= task.length; row += step) {
        const u64 k = tile::partition_point(0, task.count, [&](u64 i) { return task.rows[i] < row; });
        const u64 offset = offset_at(task, row) + task.shifts[k];
        if (task.width_to == 8) {
            reinterpret_cast<u64*>(task.offsets_to)[row] = offset;
        } else {
            reinterpret_cast<u32*>(task.offsets_to)[row] = static_cast<u32>(offset);
        }
    }
}

// Copies the bytes of all other rows.
extern "C" __global__ void __launch_bounds__(threads) shift_bytes(const __grid_constant__ PatchTask task) {
    const u64 total = offset_at(task, task.length), step = u64{gridDim.x} * threads * piece_bytes;
    for (u64 begin = (u64{blockIdx.x} * threads + threadIdx.x) * piece_bytes; begin < total; begin += step) {
        u64 k = tile::partition_point(0, task.count, [&](u64 i) { return offset_at(task, task.rows[i] + 1) <= begin; });
        const u64 end = min(begin + piece_bytes, total);
        for (u64 at = begin; at < end; ++at) {
            while (k < task.count && offset_at(task, task.rows[k] + 1) <= at) ++k;
            const bool is_replaced = k < task.count && offset_at(task, task.rows[k]) <= at;
            if (!is_replaced) task.bytes_to[at + task.shifts[k]] = task.bytes[at];
        }
    }
}

// Copies the new texts, one warp per text.
extern "C" __global__ void __launch_bounds__(threads) store_patches(const __grid_constant__ PatchTask task) {
    const u64 k = u64{blockIdx.x} * (threads / tile::lanes) + tile::warp();
    if (k >= task.count) return;
    const u64 row = task.rows[k], size = task.ends[k + 1] - task.ends[k];
    const u8* const from = task.texts + task.ends[k];
    u8* const to = task.bytes_to + (offset_at(task, row) + task.shifts[k]);
    for (u64 at = tile::lane(); at < size; at += tile::lanes) to[at] = from[at];
    if (tile::lane() == 0) atomicOr(&task.validity[row / 32], 1u << (row % 32));
}
