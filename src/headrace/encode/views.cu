// Converts strings to string views, as views.cpp: texts of up to 12 bytes are inline, the others are concatenated in
// buffers of less than 2^31 bytes.
//
// Bytes moved: offsets and texts of up to 12 bytes once, and 16 per row. If there are longer texts, offsets again, and
// these texts once in and once out.
#include "encode/text_bytes.cuh"
#include "gpu/block/block.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 block_rows = threads * TURNS;
constexpr u32 inline_bytes = 12;

HR_FN u64 size_of(const PlainTexts& texts, u64 row) {
    return row < texts.rows && has_text(texts, row) ? text_begin(texts, row + 1) - text_begin(texts, row) : 0;
}

HR_FN u64 long_size(u64 size) { return size > inline_bytes ? size : 0; }

// Writes the views. Those of texts of more than 12 bytes have only the size and the first four. sizes[block]: bytes of
// such long texts of the block's rows.
extern "C" __global__ void __launch_bounds__(threads)
    put_views(const __grid_constant__ PlainTexts texts, uint4* views, u64* sizes) {
    __shared__ u64 parts[threads / tile::lanes];
    const u64 end = text_begin(texts, texts.rows);
    u64 long_bytes = 0;
#pragma unroll 4
    for (u32 turn = 0; turn < TURNS; ++turn) {
        const u64 row = u64{blockIdx.x} * block_rows + turn * threads + threadIdx.x;
        if (row >= texts.rows) break;
        const u64 size = size_of(texts, row);
        u32 bytes[3];
        load_first(texts, text_begin(texts, row), size > inline_bytes ? 4 : static_cast<u32>(size), end, bytes);
        views[row] = {static_cast<u32>(size), bytes[0], bytes[1], bytes[2]};
        long_bytes += long_size(size);
    }
    long_bytes = tile::reduce_block<Sum<u64>, threads>(long_bytes, parts);
    if (threadIdx.x == 0) sizes[blockIdx.x] = long_bytes;
}

// The texts of a block in one turn, one per thread: its size, and its position among the bytes of all long texts.
struct TurnTexts {
    u64 row, begin, size, place;
};

// The buffers of long texts. `limits[k]`: position of the start of buffer k among the bytes of all long texts,
// ascending.
struct ViewBuffers {
    const u64* limits;
    u8* const* buffers;
    u32 count;
};

// Copies the long texts of a warp's lanes, and completes their views.
HR_FN void put_long(const PlainTexts& texts, const TurnTexts& own, const ViewBuffers& all, uint4* views) {
    const bool is_long = own.size > inline_bytes;
    u8* to = nullptr;
    if (is_long) {
        u32 number = all.count - 1;
        while (all.limits[number] > own.place) --number;
        const u32 offset = static_cast<u32>(own.place - all.limits[number]);
        views[own.row].z = number;
        views[own.row].w = offset;
        to = all.buffers[number] + offset;
    }
    const u8* const from = texts.bytes + own.begin;
    // The whole warp copies the text of each lane.
    for (u32 left = __ballot_sync(tile::all_lanes, is_long); left != 0; left &= left - 1) {
        const u32 lane = static_cast<u32>(__ffs(static_cast<int>(left))) - 1;
        const u8* const lane_from = reinterpret_cast<const u8*>(tile::shuffle(reinterpret_cast<u64>(from), lane));
        u8* const lane_to = reinterpret_cast<u8*>(tile::shuffle(reinterpret_cast<u64>(to), lane));
        const u64 bytes = tile::shuffle(own.size, lane);
        for (u64 i = tile::lane(); i < bytes; i += tile::lanes) lane_to[i] = lane_from[i];
    }
}

// Copies the texts of more than 12 bytes. `begins[block]`: position of the block's first long text among the bytes of
// all long texts. `limits`, `buffers`, `count`: as ViewBuffers. `views`: as put_views writes them.
extern "C" __global__ void __launch_bounds__(threads)
    put_long_texts(const __grid_constant__ PlainTexts texts, const u64* begins, const u64* limits, u8* const* buffers,
                   u32 count, uint4* views) {
    __shared__ u64 parts[threads / tile::lanes];
    u64 before = begins[blockIdx.x];
    if (blockIdx.x + 1 < gridDim.x && begins[blockIdx.x + 1] == before) return;  // the block has no long text
    for (u32 turn = 0; turn < TURNS; ++turn) {
        const u64 row = u64{blockIdx.x} * block_rows + turn * threads + threadIdx.x;
        TurnTexts own{row, row < texts.rows ? text_begin(texts, row) : 0, size_of(texts, row), 0};
        const u64 size = long_size(own.size), until = tile::scan_warp<Sum<u64>>(size);
        const tile::WarpPrefix<u64> warps =
            tile::scan_warps<Sum<u64>, threads>(tile::shuffle(until, tile::lanes - 1), parts);
        own.place = before + warps.before + until - size;
        before += warps.total;
        put_long(texts, own, {limits, buffers, count}, views);
        __syncthreads();  // `parts` is reused
    }
}
