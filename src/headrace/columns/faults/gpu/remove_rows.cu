// Removes rows from columns: copies the retained rows to new buffers. Few rows are removed, so each row of the result
// searches the sorted list for the number of removed rows that precede it. A block first searches the list for its own
// range, and its rows search only that part. (Selection by scan, as in primitives/select.cu, would read a flag and
// write an index for each row.)
//
// Bytes moved: the columns once in and once out; a search of the list for each block of 2,048 rows or 4 KiB of strings.
#include "columns/faults/gpu/column_tasks.hpp"
#include "gpu/block/partition_point.cuh"
#include "gpu/block/warp.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows_per_block = 8 * threads;
constexpr u32 piece_bytes = 16;
constexpr u32 chunk_bytes = threads * piece_bytes;

HR_FN u64 offset_at(const RemovalColumn& column, u64 row) {
    return column.width == 8 ? reinterpret_cast<const u64*>(column.from)[row]
                             : reinterpret_cast<const u32*>(column.from)[row];
}

// Returns the string bytes of the first `k` removed rows.
HR_FN u64 bytes_before(const RemovalTask& task, u32 string, u64 k) {
    return k < task.removed_count ? task.removed_bytes[k * u64{task.strings} + string] : task.totals[string];
}

// Returns the number of removed rows that precede position `at` of the result. `place(k)`: position of the k-th removed
// row after the removal of those before it. The first `low` are known to precede `at`; those from `high` on do not.
template <class Place>
HR_FN u64 removed_before(u64 low, u64 high, u64 at, Place place) {
    return tile::partition_point(low, high, [&](u64 k) { return place(k) <= at; });
}

// Writes the string bytes of the k-th removed row to sizes[k * strings + string].
extern "C" __global__ void __launch_bounds__(threads)
    size_removed(const RemovalColumn* columns, u64* sizes, const __grid_constant__ RemovalTask task) {
    const RemovalColumn column = columns[blockIdx.y];
    for (u64 k = u64{blockIdx.x} * threads + threadIdx.x; k < task.removed_count; k += u64{gridDim.x} * threads) {
        const u64 row = task.removed[k];
        sizes[k * u64{task.strings} + blockIdx.y] = offset_at(column, row + 1) - offset_at(column, row);
    }
}

template <class T>
HR_FN void move_value(const RemovalColumn& column, u64 from, u64 to) {
    reinterpret_cast<T*>(column.to)[to] = reinterpret_cast<const T*>(column.from)[from];
}

HR_FN void move_fixed(const RemovalColumn& column, u64 from, u64 to) {
    switch (column.width) {
        case 1:
            return move_value<u8>(column, from, to);
        case 2:
            return move_value<u16>(column, from, to);
        case 4:
            return move_value<u32>(column, from, to);
        case 8:
            return move_value<u64>(column, from, to);
        case 16:
            return move_value<uint4>(column, from, to);
    }
}

// Copies one bit per lane to the warp's word of the result. Returns the number of bits set.
HR_FN u32 move_bits(const u32* from, u32* to, u64 row, u64 source, bool here) {
    const bool bit = here && (from[source / 32] >> (source % 32) & 1) != 0;
    const u32 word = __ballot_sync(tile::all_lanes, bit);
    if (tile::lane() == 0 && here) to[row / 32] = word;
    return static_cast<u32>(__popc(word));
}

// Copies values, bits and offsets; offsets have one element more than rows. Adds the number of valid rows to `valid`.
extern "C" __global__ void __launch_bounds__(threads)
    remove_rows(const RemovalColumn* columns, u64* valid, const __grid_constant__ RemovalTask task) {
    __shared__ u64 bounds[2];
    const RemovalColumn column = columns[blockIdx.y];
    const bool moves = task.keeps_rows == 0;
    const u64 retained = moves ? task.rows - task.removed_count : task.rows;
    const u64 begin = u64{blockIdx.x} * rows_per_block, end = begin + rows_per_block;
    const auto place = [&](u64 k) { return moves ? task.removed[k] - k : task.removed[k] + 1; };
    if (threadIdx.x < 2) {
        bounds[threadIdx.x] = removed_before(0, task.removed_count, threadIdx.x == 0 ? begin : end - 1, place);
    }
    __syncthreads();
    const u64 low = bounds[0], high = bounds[1];
    u32 count = 0;
    for (u64 row = begin + threadIdx.x; row < end; row += threads) {
        const bool here = row < retained;
        const u64 before = removed_before(low, high, row, place), source = moves ? row + before : row;
        if (column.string != NO_STRING) {
            if (row <= retained) {
                const u64 offset = offset_at(column, source) - bytes_before(task, column.string, before);
                if (column.width_to == 8) {
                    reinterpret_cast<u64*>(column.to)[row] = offset;
                } else {
                    reinterpret_cast<u32*>(column.to)[row] = static_cast<u32>(offset);
                }
            }
        } else if (column.width != 0) {
            if (here) move_fixed(column, source, row);
        } else if (column.from != nullptr) {
            move_bits(reinterpret_cast<const u32*>(column.from), reinterpret_cast<u32*>(column.to), row, source, here);
        }
        count += move_bits(column.validity, column.validity_to, row, source, here);
    }
    if (tile::lane() == 0 && count != 0) atomicAdd(&valid[blockIdx.y], u64{count});
}

// Loads 16 bytes from any address. Words without any of these bytes are not read.
HR_FN uint4 load_bytes(const u8* from) {
    const u32 shift = static_cast<u32>(reinterpret_cast<u64>(from) & 3) * 8;
    const u32* const words = reinterpret_cast<const u32*>(from - shift / 8);
    u32 result[5];
#pragma unroll
    for (u32 i = 0; i < 4; ++i) result[i] = words[i];
    result[4] = shift != 0 ? words[4] : 0;
#pragma unroll
    for (u32 i = 0; i < 4; ++i) result[i] = __funnelshift_r(result[i], result[i + 1], shift);
    return {result[0], result[1], result[2], result[3]};
}

// Copies string bytes. A block writes contiguous chunks of the result.
extern "C" __global__ void __launch_bounds__(threads)
    remove_bytes(const RemovalColumn* columns, const __grid_constant__ RemovalTask task) {
    __shared__ u64 bounds[2];
    const RemovalColumn column = columns[blockIdx.y];
    const u64 total = offset_at(column, task.rows),
              retained = total - bytes_before(task, column.string, task.removed_count);
    const auto place = [&](u64 k) { return offset_at(column, task.removed[k]) - bytes_before(task, column.string, k); };
    for (u64 begin = u64{blockIdx.x} * chunk_bytes; begin < retained; begin += u64{gridDim.x} * chunk_bytes) {
        if (threadIdx.x < 2) {
            bounds[threadIdx.x] =
                removed_before(0, task.removed_count, threadIdx.x == 0 ? begin : begin + chunk_bytes - 1, place);
        }
        __syncthreads();
        const u64 first = begin + threadIdx.x * piece_bytes, last = min(first + piece_bytes, retained) - 1;
        if (first < retained) {
            u64 before = removed_before(bounds[0], bounds[1], first, place);
            const u64 before_last = removed_before(before, bounds[1], last, place);
            const u64 source = first + bytes_before(task, column.string, before);
            if (before == before_last && last == first + piece_bytes - 1 && source + piece_bytes + 3 < total) {
                *reinterpret_cast<uint4*>(column.bytes_to + first) = load_bytes(column.bytes + source);
            } else {
                for (u64 at = first; at <= last; ++at) {
                    before = removed_before(before, before_last, at, place);
                    column.bytes_to[at] = column.bytes[at + bytes_before(task, column.string, before)];
                }
            }
        }
        __syncthreads();
    }
}
