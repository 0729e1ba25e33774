// Converts strings to string views, as views.cpp: texts of up to 12 bytes are inline, the others are concatenated in
// buffers of less than 2^31 bytes.
//
// Bytes moved: offsets twice, 16 per row, and texts of more than 12 bytes once in and once out.
#include "encode/texts_task.hpp"
#include "gpu/block/block.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 block_rows = threads * TURNS;
constexpr u32 inline_bytes = 12;

HR_FN u64 size_of(const PlainTexts& texts, u64 row) {
    return row < texts.rows && has_text(texts, row) ? text_begin(texts, row + 1) - text_begin(texts, row) : 0;
}

HR_FN u64 long_size(u64 size) { return size > inline_bytes ? size : 0; }

// sizes[block]: bytes of the long texts of the block's rows.
extern "C" __global__ void __launch_bounds__(threads)
    measure_views(const __grid_constant__ PlainTexts texts, u64* sizes) {
    __shared__ u64 parts[threads / tile::lanes];
    u64 size = 0;
    for (u32 turn = 0; turn < TURNS; ++turn) {
        size += long_size(size_of(texts, u64{blockIdx.x} * block_rows + turn * threads + threadIdx.x));
    }
    size = tile::reduce_block<Sum<u64>, threads>(size, parts);
    if (threadIdx.x == 0) sizes[blockIdx.x] = size;
}

// `begins[block]`: position of the block's first long text among the bytes of all long texts. `limits[k]`: position of
// the start of buffer k among them, ascending.
extern "C" __global__ void __launch_bounds__(threads)
    put_views(const __grid_constant__ PlainTexts texts, const u64* begins, const u64* limits, u8* const* buffers,
              u32 count, uint4* views) {
    __shared__ u64 parts[threads / tile::lanes];
    u64 before = begins[blockIdx.x];
    for (u32 turn = 0; turn < TURNS; ++turn) {
        const u64 row = u64{blockIdx.x} * block_rows + turn * threads + threadIdx.x;
        const u64 size = size_of(texts, row), own = long_size(size);
        const u64 until = tile::scan_warp<Sum<u64>>(own);
        const tile::WarpPrefix<u64> warps =
            tile::scan_warps<Sum<u64>, threads>(tile::shuffle(until, tile::lanes - 1), parts);
        const u64 place = before + warps.before + until - own;
        before += warps.total;
        const u8* const from = texts.bytes + (row < texts.rows ? text_begin(texts, row) : 0);
        u8* to = nullptr;
        u32 view[4] = {static_cast<u32>(size), 0, 0, 0};
        const u32 shown = size > inline_bytes ? 4 : static_cast<u32>(size);
        for (u32 i = 0; i < shown; ++i) view[1 + i / 4] |= u32{from[i]} << (8 * (i % 4));
        if (own != 0) {
            u32 number = count - 1;
            while (limits[number] > place) --number;
            view[2] = number;
            view[3] = static_cast<u32>(place - limits[number]);
            to = buffers[number] + view[3];
        }
        if (row < texts.rows) views[row] = {view[0], view[1], view[2], view[3]};
        // The whole warp copies the text of each lane.
        for (u32 left = __ballot_sync(tile::all_lanes, own != 0); left != 0; left &= left - 1) {
            const u32 lane = static_cast<u32>(__ffs(static_cast<int>(left))) - 1;
            const u8* const lane_from = reinterpret_cast<const u8*>(tile::shuffle(reinterpret_cast<u64>(from), lane));
            u8* const lane_to = reinterpret_cast<u8*>(tile::shuffle(reinterpret_cast<u64>(to), lane));
            const u64 bytes = tile::shuffle(own, lane);
            for (u64 i = tile::lane(); i < bytes; i += tile::lanes) lane_to[i] = lane_from[i];
        }
        __syncthreads();  // `parts` is reused
    }
}
