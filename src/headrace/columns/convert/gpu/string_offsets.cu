// What stands between the two passes of a load (convert.cu): where each tile's strings go, and how many values there
// are. Little work beside a pass over the text: 16 bytes a tile and column of strings, a bit a value.
#include "columns/convert/gpu/convert_task.hpp"
#include "columns/convert/gpu/size_estimate.hpp"
#include "columns/convert/gpu/text_bits.cuh"
#include "gpu/block/block.cuh"
#include "gpu/block/block_look_back.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

// A row of blocks for each column of strings. sums[tile * strings + column]: bytes in, bytes of all tiles before out. A
// thread has some tiles in a row, all of them on their way at once, and a block joins its tiles to those before by
// look-back. `memory`: for each column a ticket, and a state for each of its blocks; zeros.
extern "C" __global__ void __launch_bounds__(threads)
    place_strings(u64* sums, u32 tiles, u32 strings, u64* totals, tile::Wide* memory) {
    __shared__ u64 parts[threads / tile::lanes];
    __shared__ u64 blocks_before;
    __shared__ u32 taken;
    using Op = Sum<u64>;
    constexpr u32 own_tiles = 8;
    tile::Chain<u64> chain(memory + u64{gridDim.y + 1} * blockIdx.x);
    if (threadIdx.x == 0) taken = chain.take_tile();
    __syncthreads();
    const u32 first = (taken * threads + threadIdx.x) * own_tiles;
    u64* const mine = sums + u64{first} * strings + blockIdx.x;
    u64 bytes[own_tiles], own = 0;
#pragma unroll
    for (u32 i = 0; i < own_tiles; ++i) bytes[i] = first + i < tiles ? mine[u64{i} * strings] : 0;
#pragma unroll
    for (u32 i = 0; i < own_tiles; ++i) own += bytes[i];
    const u64 joined = tile::scan_warp<Op>(own);
    const tile::Before<u64> warps = tile::scan_warps<Op, threads>(tile::shuffle(joined, tile::lanes - 1), parts);
    if (tile::warp() == 0) {
        if (tile::lane() == 0) chain.post<Op>(taken, warps.total);
        const u64 before = chain.prefix<Op>(taken, warps.total);
        if (tile::lane() == 0) blocks_before = before;
    }
    __syncthreads();
    u64 place = blocks_before + warps.before + joined - own;
#pragma unroll
    for (u32 i = 0; i < own_tiles; ++i) {
        if (first + i < tiles) mine[u64{i} * strings] = place;
        place += bytes[i];
    }
    if (taken + 1 == gridDim.y && threadIdx.x == 0) totals[blockIdx.x] = blocks_before + warps.total;
}

// One block: whether what was expected holds. `forms`: of the search, one of which must have read the text. `ranges`:
// of rows, and of the bytes of each column of strings. `rows`: how many there are, or ROOM_REFUSED.
extern "C" __global__ void __launch_bounds__(threads)
    check_room(const FindTotals* totals, u32 forms, const RoomRange* ranges, const u64* string_bytes, u32 strings,
               u64* rows) {
    u32 form = 0;
    while (form < forms && (totals[form].flags & FIND_REDO) != 0) ++form;
    const u64 records = form < forms ? totals[form].records : ROOM_REFUSED;
    bool fits = form < forms && ranges[0].least <= records && records <= ranges[0].most;
    for (u32 i = threadIdx.x; i < strings; i += threads) {
        const RoomRange range = ranges[i + 1];
        fits &= range.least <= string_bytes[i] && string_bytes[i] <= range.most;
    }
    fits = __syncthreads_and(fits);
    if (threadIdx.x == 0) *rows = fits ? records : ROOM_REFUSED;
}

// A column of the grid, which may have more of these than rows, for each column: how many of its rows have a value is
// added to `counts`. Bits behind the rows are cleared, and of strings the first offset is written: a text without a
// record, or whose first tile has none, has no tile that would. `ahead`: the number of rows, in place of `rows`, or
// null.
extern "C" __global__ void __launch_bounds__(threads)
    count_values(const ConvertColumn* columns, u64 rows, const u64* ahead, u64* counts) {
    __shared__ u64 parts[threads / tile::lanes];
    if (is_refused(ahead)) return;
    if (ahead != nullptr) rows = *ahead;
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
