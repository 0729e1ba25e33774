// Gathers the texts of some records, so that the host fetches them with one copy. One warp per record.
//
// Bytes moved: the records, in and out.
#include "gpu/block/warp.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

// Copies record i from text[begins[i]] to out[offsets[i] - offsets[0]], up to where the next one begins.
extern "C" __global__ void __launch_bounds__(threads)
    gather_records(const u8* text, const u64* begins, const u64* offsets, u64 count, u8* out) {
    const u64 number = u64{blockIdx.x} * (threads / tile::lanes) + tile::warp();
    if (number >= count) return;
    const u8* const from = text + begins[number];
    const u64 size = offsets[number + 1] - offsets[number];
    u8* const to = out + (offsets[number] - offsets[0]);
    for (u64 i = tile::lane(); i < size; i += tile::lanes) to[i] = from[i];
}
