// Compares rows, one thread per pair: the GPU counterpart of arrange/partition_rows/equal_rows.cpp. Bytes moved per
// pair of values of width w, with row numbers of width r: 2 w + 2 r + 2, where values are sectors of 32 bytes if rows
// are far apart.
#include "arrange/partition_rows/equal_rows.hpp"

using namespace headrace;

using Row = HR_ROW;
constexpr u32 threads = HR_THREADS;

// Replaces the verdicts `equal` by those on one more column. Verdicts are a byte for each pair. Null for `rows`: 0, 1,
// ...
extern "C" __global__ void __launch_bounds__(threads)
    compare_rows(const __grid_constant__ ComparedColumn one, const __grid_constant__ ComparedColumn other,
                 const Row* rows, const Row* others, u64 count, u32 are_nulls_equal, RowVerdict* verdicts) {
    const u64 i = static_cast<u64>(blockIdx.x) * threads + threadIdx.x;
    if (i >= count || verdicts[i] != RowVerdict::equal) return;
    verdicts[i] = compare_row(one, rows == nullptr ? i : rows[i], other, others[i], are_nulls_equal != 0);
}
