// Converts strings to string views, as views.cpp: texts of up to 12 bytes are inline, the others are concatenated in
// buffers of less than 2^31 bytes.
//
// Bytes moved: offsets twice, 16 per row, and texts of more than 12 bytes once in and once out.
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

// Copies the long texts of a warp's lanes. Completes the view of this lane's text, if it is long.
HR_FN void put_long(const PlainTexts& texts, const TurnTexts& own, const ViewBuffers& all, uint4& view) {
    const bool is_long = own.size > inline_bytes;
    u8* to = nullptr;
    if (is_long) {
        u32 number = all.count - 1;
        while (all.limits[number] > own.place) --number;
        view.z = number;
        view.w = static_cast<u32>(own.place - all.limits[number]);
        to = all.buffers[number] + view.w;
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

// `begins[block]`: position of the block's first long text among the bytes of all long texts. `limits`, `buffers`,
// `count`: as ViewBuffers. A block without long texts has neither scans nor barriers after the first one.
extern "C" __global__ void __launch_bounds__(threads)
    put_views(const __grid_constant__ PlainTexts texts, const u64* begins, const u64* limits, u8* const* buffers,
              u32 count, uint4* views) {
    __shared__ u64 parts[threads / tile::lanes];
    const u64 end = text_begin(texts, texts.rows), first = u64{blockIdx.x} * block_rows + threadIdx.x;
    u64 before = begins[blockIdx.x];
    bool has_long = false;
#pragma unroll
    for (u32 turn = 0; turn < TURNS; ++turn) has_long |= size_of(texts, first + turn * threads) > inline_bytes;
    has_long = __syncthreads_or(has_long);
#pragma unroll 2
    for (u32 turn = 0; turn < TURNS; ++turn) {
        const u64 row = first + turn * threads;
        TurnTexts own{row, row < texts.rows ? text_begin(texts, row) : 0, size_of(texts, row), 0};
        const u32 shown = own.size > inline_bytes ? 4 : static_cast<u32>(own.size);
        u32 bytes[3];
        load_first(texts, own.begin, shown, end, bytes);
        uint4 view{static_cast<u32>(own.size), bytes[0], bytes[1], bytes[2]};
        if (has_long) {
            const u64 size = long_size(own.size), until = tile::scan_warp<Sum<u64>>(size);
            const tile::WarpPrefix<u64> warps =
                tile::scan_warps<Sum<u64>, threads>(tile::shuffle(until, tile::lanes - 1), parts);
            own.place = before + warps.before + until - size;
            before += warps.total;
            put_long(texts, own, {limits, buffers, count}, view);
            __syncthreads();  // `parts` is reused
        }
        if (own.row < texts.rows) views[own.row] = view;
    }
}
