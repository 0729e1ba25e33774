// Stores values that the conversion left to the host into their columns, or marks rows as null. One thread per value:
// there are few.
#include "columns/convert/gpu/convert_task.hpp"
#include "columns/faults/gpu/column_tasks.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

extern "C" __global__ void __launch_bounds__(threads)
    store_values(const ConvertColumn* columns, const StoredValue* values, u64 count) {
    const u64 number = u64{blockIdx.x} * threads + threadIdx.x;
    if (number >= count) return;
    const StoredValue value = values[number];
    const ConvertColumn& column = columns[value.column];
    const u32 bit = 1u << (value.row % 32);
    if (value.is_null) {
        atomicAnd(&column.validity[value.row / 32], ~bit);
        return;
    }
    atomicOr(&column.validity[value.row / 32], bit);
    switch (column.width) {
        case 0:
            if (value.low != 0) atomicOr(reinterpret_cast<u32*>(column.values) + value.row / 32, bit);
            return;
        case 1:
            column.values[value.row] = static_cast<u8>(value.low);
            return;
        case 2:
            reinterpret_cast<u16*>(column.values)[value.row] = static_cast<u16>(value.low);
            return;
        case 4:
            reinterpret_cast<u32*>(column.values)[value.row] = static_cast<u32>(value.low);
            return;
        case 8:
            reinterpret_cast<u64*>(column.values)[value.row] = value.low;
            return;
        case 16:
            reinterpret_cast<u64*>(column.values)[2 * value.row] = value.low;
            reinterpret_cast<u64*>(column.values)[2 * value.row + 1] = value.high;
            return;
    }
}
