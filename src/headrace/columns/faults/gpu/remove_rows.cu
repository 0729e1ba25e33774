// Removes rows from columns: copies the retained rows to new buffers. Few rows are removed, so each row of the result
// searches the sorted list for the number of removed rows that precede it. A block first searches the list for its own
// range. A lane searches that part once, and again only if a row is removed between two of its rows. (Selection by
// scan, as in primitives/select.cu, would read a flag and write an index for each row.)
//
// Bytes moved: the columns once in and once out; a search of the list for each block of 2,048 rows or 4 KiB of strings.
#include "columns/faults/gpu/column_tasks.hpp"
#include "gpu/block/partition_point.cuh"
#include "gpu/block/warp.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 rows_per_block = 8 * threads;
constexpr u32 at_once = 2;  // rows that a lane moves side by side
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

// Rows of a lane, 32 apart.
struct MovedRows {
    u64 first, retained;   // row of the result, and the result's rows
    u64 removed[at_once];  // removed rows that precede each row
    bool moves;            // rows after a removed one move

    HR_MEMBER u64 row(u32 i) const { return first + i * tile::lanes; }
    HR_MEMBER bool has(u32 i) const { return row(i) < retained; }
    HR_MEMBER u64 source(u32 i) const { return moves ? row(i) + removed[i] : row(i); }
};

template <class T>
HR_FN void move_values(const RemovalColumn& column, const MovedRows& rows) {
    T values[at_once];
#pragma unroll
    for (u32 i = 0; i < at_once; ++i) {
        if (rows.has(i)) values[i] = reinterpret_cast<const T*>(column.from)[rows.source(i)];
    }
#pragma unroll
    for (u32 i = 0; i < at_once; ++i) {
        if (rows.has(i)) reinterpret_cast<T*>(column.to)[rows.row(i)] = values[i];
    }
}

HR_FN void move_fixed(const RemovalColumn& column, const MovedRows& rows) {
    switch (column.width) {
        case 1:
            return move_values<u8>(column, rows);
        case 2:
            return move_values<u16>(column, rows);
        case 4:
            return move_values<u32>(column, rows);
        case 8:
            return move_values<u64>(column, rows);
        case 16:
            return move_values<uint4>(column, rows);
    }
}

// Copies a bit per row to words of the result. Returns the number of bits set.
HR_FN u32 move_bits(const u32* from, u32* to, const MovedRows& rows) {
    u32 words[at_once], count = 0;
#pragma unroll
    for (u32 i = 0; i < at_once; ++i) words[i] = rows.has(i) ? from[rows.source(i) / 32] : 0;
#pragma unroll
    for (u32 i = 0; i < at_once; ++i) {
        const u32 word = __ballot_sync(tile::all_lanes, (words[i] >> (rows.source(i) % 32) & 1) != 0);
        if (tile::lane() == 0 && rows.has(i)) to[rows.row(i) / 32] = word;
        count += static_cast<u32>(__popc(word));
    }
    return count;
}

// Copies offsets, which have one element more than rows.
HR_FN void move_offsets(const RemovalTask& task, const RemovalColumn& column, const MovedRows& rows) {
#pragma unroll
    for (u32 i = 0; i < at_once; ++i) {
        const u64 row = rows.row(i);
        if (row > rows.retained) return;
        const u64 offset = offset_at(column, rows.source(i)) - bytes_before(task, column.string, rows.removed[i]);
        if (column.width_to == 8) {
            reinterpret_cast<u64*>(column.to)[row] = offset;
        } else {
            reinterpret_cast<u32*>(column.to)[row] = static_cast<u32>(offset);
        }
    }
}

// Copies values, bits and offsets. Adds the number of valid rows to `valid`.
extern "C" __global__ void __launch_bounds__(threads, 5)
    remove_rows(const RemovalColumn* columns, u64* valid, const __grid_constant__ RemovalTask task) {
    __shared__ u64 bounds[2];
    const RemovalColumn column = columns[blockIdx.y];
    const bool moves = task.keeps_rows == 0;
    const u64 begin = u64{blockIdx.x} * rows_per_block, end = begin + rows_per_block;
    const auto place = [&](u64 k) { return moves ? task.removed[k] - k : task.removed[k] + 1; };
    if (threadIdx.x < 2) {
        bounds[threadIdx.x] = removed_before(0, task.removed_count, threadIdx.x == 0 ? begin : end - 1, place);
    }
    __syncthreads();
    const u64 low = bounds[0], high = bounds[1];
    constexpr u32 warp_rows = rows_per_block / (threads / tile::lanes);
    const u64 first = begin + tile::warp() * warp_rows + tile::lane(), last = first + warp_rows;
    MovedRows rows{first, moves ? task.rows - task.removed_count : task.rows, {}, moves};
    u64 before = removed_before(low, high, first, place);
    u64 next = before < high ? place(before) : ~u64{0};  // the first row that the next removed one precedes
    u32 count = 0;
    for (; rows.first < last; rows.first += at_once * tile::lanes) {
#pragma unroll
        for (u32 i = 0; i < at_once; ++i) {
            if (next <= rows.row(i)) {
                before = removed_before(before + 1, high, rows.row(i), place);
                next = before < high ? place(before) : ~u64{0};
            }
            rows.removed[i] = before;
        }
        if (column.string != NO_STRING) {
            move_offsets(task, column, rows);
        } else if (column.width != 0) {
            move_fixed(column, rows);
        } else if (column.from != nullptr) {
            move_bits(reinterpret_cast<const u32*>(column.from), reinterpret_cast<u32*>(column.to), rows);
        }
        count += move_bits(column.validity, column.validity_to, rows);
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
