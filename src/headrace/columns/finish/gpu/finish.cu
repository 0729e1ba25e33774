// Finishes converted columns, as finish.cpp does on the host: shrinks inferred types and numbers rows. One pass finds,
// for each narrower type, the first row that it cannot represent. This gives the type, and the row that decided it: the
// last of these first rows over the types tried before.
//
// Bytes moved: 8 for each value to find the type; 8 and those of the new type to convert it.
#include "columns/finish/gpu/finish_task.hpp"
#include "gpu/block/warp.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u64 no_row = ~u64{0};

HR_FN bool is_valid(const ShrunkColumn& column, u64 row) { return column.validity[row / 32] >> (row % 32) & 1; }

HR_FN bool is_between(i64 value, i64 low, i64 high) { return low <= value && value <= high; }

// Returns a bit for each type that can represent the value: int8, uint8, int16, uint16, int32, uint32.
HR_FN u32 types_of(i64 value) {
    return (is_between(value, -128, 127) ? 1u : 0u) | (is_between(value, 0, 255) ? 2u : 0u) |
           (is_between(value, -32768, 32767) ? 4u : 0u) | (is_between(value, 0, 65535) ? 8u : 0u) |
           (is_between(value, -2147483647 - 1, 2147483647) ? 16u : 0u) | (is_between(value, 0, 4294967295) ? 32u : 0u);
}

// Returns 1 if float32 can represent the value. A NaN is a NaN in either type.
HR_FN u32 types_of(double value) {
    return value != value || static_cast<double>(static_cast<float>(value)) == value ? 1u : 0u;
}

// Grid dimension x has one element for each column: dimension y has too small a limit.
extern "C" __global__ void __launch_bounds__(threads) find_misfits(const ShrunkColumn* columns, u64 rows) {
    const ShrunkColumn column = columns[blockIdx.x];
    u64 first[SHRUNK_TYPES] = {no_row, no_row, no_row, no_row, no_row, no_row};
    const u64 step = u64{gridDim.y} * threads;
    for (u64 row = u64{blockIdx.y} * threads + threadIdx.x; row < rows; row += step) {
        if (!is_valid(column, row)) continue;
        const u64 bits = column.from[row];
        const u32 types = column.is_real ? types_of(bits_as<double>(bits)) : types_of(static_cast<i64>(bits));
#pragma unroll
        for (u32 i = 0; i < SHRUNK_TYPES; ++i) {
            if (first[i] == no_row && (types >> i & 1) == 0) first[i] = row;
        }
    }
#pragma unroll
    for (u32 i = 0; i < SHRUNK_TYPES; ++i) {
        const u64 of_warp = tile::reduce_warp<Min<u64>>(first[i]);
        if (tile::lane() == 0 && of_warp != no_row) atomicMin(&column.misfits[i], of_warp);
    }
}

template <class T>
HR_FN void put(const ShrunkColumn& column, u64 row, T value) {
    reinterpret_cast<T*>(column.to)[row] = value;
}

// Converts values to their narrower type. Nulls become zero, as on the host.
extern "C" __global__ void __launch_bounds__(threads) narrow_values(const ShrunkColumn* columns, u64 rows) {
    const ShrunkColumn column = columns[blockIdx.x];
    const u64 step = u64{gridDim.y} * threads;
    for (u64 row = u64{blockIdx.y} * threads + threadIdx.x; row < rows; row += step) {
        const u64 bits = is_valid(column, row) ? column.from[row] : 0;
        if (column.is_real) {
            put(column, row, static_cast<float>(bits_as<double>(bits)));
        } else if (column.width_to == 1) {
            put(column, row, static_cast<u8>(bits));
        } else if (column.width_to == 2) {
            put(column, row, static_cast<u16>(bits));
        } else {
            put(column, row, static_cast<u32>(bits));
        }
    }
}

// Sets values[row] to first + row.
extern "C" __global__ void __launch_bounds__(threads) number_rows(i64* values, u64 rows, i64 first) {
    const u64 step = u64{gridDim.y} * threads;
    for (u64 row = u64{blockIdx.y} * threads + threadIdx.x; row < rows; row += step) {
        values[row] = first + static_cast<i64>(row);
    }
}
