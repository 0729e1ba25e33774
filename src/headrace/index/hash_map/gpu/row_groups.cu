// Steps of the search for equal rows (row_groups.py): marks, counts and results of rows, by row numbers of width r.
//
// Bytes moved per row. Marks: r or 1, and a bit. Counts: r, and one atomic operation for equal rows of a warp. Results:
// 3 r, or 2 r + 9 for matches.
#include "arrange/gather/selected_rows.cuh"
#include "arrange/partition_rows/equal_rows.hpp"

using namespace headrace;

using Row = HR_ROW;
constexpr u32 threads = HR_THREADS;

HR_FN u64 thread_row() { return static_cast<u64>(blockIdx.x) * threads + threadIdx.x; }

// Marks the rows that are the first of their group. firsts[row]: the first row that is equal to it.
extern "C" __global__ void __launch_bounds__(threads) mark_firsts(const Row* firsts, u64 rows, u32* bits, u64* counts) {
    selected::mark(rows, bits, counts, [&](u64 row) { return firsts[row] == row; });
}

// Marks the pairs of rows that are not equal, for the next round.
extern "C" __global__ void __launch_bounds__(threads)
    mark_unequal(const RowVerdict* verdicts, u64 pairs, u32* bits, u64* counts) {
    selected::mark(pairs, bits, counts, [&](u64 pair) { return verdicts[pair] == RowVerdict::unequal; });
}

// Replaces flags of found hashes by verdicts: pairs to be compared, and rows without a match.
extern "C" __global__ void __launch_bounds__(threads) begin_verdicts(u8* found, u64 rows) {
    const u64 row = thread_row();
    if (row < rows) found[row] = static_cast<u8>(found[row] != 0 ? RowVerdict::equal : RowVerdict::unmatched);
}

// Adds 1 to counts[firsts[row]] for each row. The lanes of a warp with one value add together.
extern "C" __global__ void __launch_bounds__(threads) count_rows(const Row* firsts, u64 rows, u64* counts) {
    const u64 row = thread_row();
    const bool is_row = row < rows;
    const u64 first = is_row ? firsts[row] : ~u64{0};
    const u32 alike = __match_any_sync(tile::all_lanes, first);
    if (is_row && tile::lane() == static_cast<u32>(__ffs(alike) - 1)) {
        atomicAdd(counts + first, static_cast<u64>(__popc(alike)));
    }
}

// Writes result[rows[i]] = values[i].
extern "C" __global__ void __launch_bounds__(threads)
    scatter_rows(const Row* rows, const Row* values, u64 count, Row* result) {
    const u64 i = thread_row();
    if (i < count) result[rows[i]] = values[i];
}

// Writes the matches of the pairs that are equal.
extern "C" __global__ void __launch_bounds__(threads)
    store_matches(const Row* rows, const Row* others, u64 count, const RowVerdict* verdicts, i64* result) {
    const u64 i = thread_row();
    if (i < count && verdicts[i] == RowVerdict::equal) result[rows[i]] = static_cast<i64>(others[i]);
}
