// Computes the offsets of strings from their measured sizes, validates size estimates, and counts values: the kernels
// between the two passes of a load. They cost little beside a pass over the text: 16 bytes per tile and column of
// strings, and a bit per value.
#include "columns/convert/gpu/convert_task.hpp"
#include "columns/convert/gpu/size_estimate.hpp"
#include "columns/convert/gpu/text_bits.cuh"
#include "gpu/block/block.cuh"
#include "gpu/block/block_look_back.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

// Scans string sizes. Block i is one of column i % strings. `sums[tile * strings + column]` has the bytes of a tile on
// entry, and the bytes of all preceding tiles on return. A thread has 8 consecutive tiles, whose loads are all in
// flight at once. A block adds the preceding tiles by decoupled look-back. `memory`: for each column a ticket and a
// state for each of its blocks, zeroed.
extern "C" __global__ void __launch_bounds__(threads)
    scan_string_sizes(u64* sums, u32 tiles, u32 strings, u64* totals, tile::WordPair* memory) {
    __shared__ u64 parts[threads / tile::lanes];
    __shared__ u64 blocks_before;
    __shared__ u32 block;
    using Op = Sum<u64>;
    constexpr u32 thread_tiles = 8;
    const u32 column = blockIdx.x % strings, blocks = gridDim.x / strings;
    tile::Chain<u64> chain(memory + u64{blocks + 1} * column);
    if (threadIdx.x == 0) block = chain.take_tile();
    __syncthreads();
    const u32 first = (block * threads + threadIdx.x) * thread_tiles;
    u64* const mine = sums + u64{first} * strings + column;
    u64 bytes[thread_tiles], thread_bytes = 0;
#pragma unroll
    for (u32 i = 0; i < thread_tiles; ++i) bytes[i] = first + i < tiles ? mine[u64{i} * strings] : 0;
#pragma unroll
    for (u32 i = 0; i < thread_tiles; ++i) thread_bytes += bytes[i];
    const u64 inclusive = tile::scan_warp<Op>(thread_bytes);
    const tile::WarpPrefix<u64> warps = tile::scan_warps<Op, threads>(tile::shuffle(inclusive, tile::lanes - 1), parts);
    if (tile::warp() == 0) {
        if (tile::lane() == 0) chain.post<Op>(block, warps.total);
        const u64 before = chain.prefix<Op>(block, warps.total);
        if (tile::lane() == 0) blocks_before = before;
    }
    __syncthreads();
    u64 place = blocks_before + warps.before + inclusive - thread_bytes;
#pragma unroll
    for (u32 i = 0; i < thread_tiles; ++i) {
        if (first + i < tiles) mine[u64{i} * strings] = place;
        place += bytes[i];
    }
    if (block + 1 == blocks && threadIdx.x == 0) totals[column] = blocks_before + warps.total;
}

// Validates an estimate, with one block. `variants`: number of search variants, one of which must have read the text.
// `ranges`: of the row count, then of the bytes of each column of strings. Stores the row count in `rows`, or
// MISPREDICTED.
extern "C" __global__ void __launch_bounds__(threads)
    validate_estimate(const FindTotals* totals, u32 variants, const SizeRange* ranges, const u64* string_bytes,
                      u32 strings, u64* rows) {
    u32 variant = 0;
    while (variant < variants && (totals[variant].flags & FIND_REDO) != 0) ++variant;
    const bool is_read = variant < variants && totals[variant].bytes != 0;  // 0 if that variant was not launched
    const u64 records = is_read ? totals[variant].records : MISPREDICTED;
    bool fits = is_read && ranges[0].min <= records && records <= ranges[0].max;
    for (u32 i = threadIdx.x; i < strings; i += threads) {
        const SizeRange range = ranges[i + 1];
        fits &= range.min <= string_bytes[i] && string_bytes[i] <= range.max;
    }
    fits = __syncthreads_and(fits);
    if (threadIdx.x == 0) *rows = fits ? records : MISPREDICTED;
}

// Counts the values of each column, with a column of the grid for each, and adds them to `counts`. Clears the validity
// bits after the last row. Writes the first offset of strings: no tile writes it if the text or its first tile has no
// record. `validated_rows`: null, or the row count that replaces `rows`. The grid may have more rows of blocks than a
// column needs.
extern "C" __global__ void __launch_bounds__(threads)
    count_values(const ConvertColumn* columns, u64 rows, const u64* validated_rows, u64* counts) {
    __shared__ u64 parts[threads / tile::lanes];
    if (is_mispredicted(validated_rows)) return;
    if (validated_rows != nullptr) rows = *validated_rows;
    const ConvertColumn& column = columns[blockIdx.x];
    if (column.offsets != nullptr && blockIdx.y == 0 && threadIdx.x == 0) {
        store_offset(column.offsets, column.width == 8, 0, 0);
    }
    u32* const validity = column.validity;
    u64 count = 0;
    for (u64 i = static_cast<u64>(blockIdx.y) * threads + threadIdx.x; i <= rows / 32; i += gridDim.y * threads) {
        u32 word = validity[i];
        if (i == rows / 32) validity[i] = word &= (1u << (rows % 32)) - 1;
        count += static_cast<u32>(count_ones(word));
    }
    count = tile::reduce_block<Sum<u64>, threads>(count, parts);
    if (threadIdx.x == 0 && count != 0) atomicAdd(&counts[blockIdx.x], count);
}
