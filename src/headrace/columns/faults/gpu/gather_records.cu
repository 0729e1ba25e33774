// Gathers the first bytes of some records, so that the host fetches them with one copy. One warp per record.
//
// Bytes moved: `bytes` for each record, in and out.
#include "gpu/block/warp.cuh"

using namespace headrace;

constexpr u32 threads = HR_THREADS;

// Copies `bytes` bytes from text[begins[i]] to out[i * bytes]. Elements for bytes after the text's end are not written.
extern "C" __global__ void __launch_bounds__(threads)
    gather_records(const u8* text, u64 size, const u64* begins, u64 count, u64 bytes, u8* out) {
    const u64 number = u64{blockIdx.x} * (threads / tile::lanes) + tile::warp();
    if (number >= count) return;
    const u64 begin = begins[number];
    const u64 there = begin < size ? min(bytes, size - begin) : 0;
    for (u64 i = tile::lane(); i < there; i += tile::lanes) out[number * bytes + i] = text[begin + i];
}
