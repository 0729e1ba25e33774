// Writes a text with each hit of a pattern replaced. A block takes a tile of the result. Hit k begins in the result at
// hits[k] + k * growth, where `growth` is the replacement's length less the pattern's. A search in these numbers finds
// the hit before each byte, and with it the byte's source.
//
// Example: xx replaced by y in "axxbxxc". Hits 1 and 4 begin at 1 and 3 in "aybyc". Byte 2 follows hit 0 by 1 byte,
// which is the replacement's length, so it is byte 1 + 2 + 0 of the text.
//
// Bytes moved: the text read, the result written, and 8 bytes a hit.
#include "gpu/block/warp.cuh"
#include "query/find/gpu/find_task.hpp"

using namespace headrace;

constexpr u32 threads = HR_THREADS;
constexpr u32 bytes_per_thread = 4;
constexpr u32 tile_bytes = threads * bytes_per_thread;

HR_FN u64 place_of(const ReplaceTask& task, u64 hit) {
    return task.hits[hit] + hit * (task.replacement_length - task.length);
}

// Returns the number of hits that begin at or before a byte of the result, of those from `low` up to `high`.
HR_FN u64 hits_upto(const ReplaceTask& task, u64 byte, u64 low, u64 high) {
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (place_of(task, middle) <= byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

extern "C" __global__ void __launch_bounds__(threads) replace_hits(ReplaceTask task, u8* out) {
    __shared__ u64 range[2];
    const u64 tile = static_cast<u64>(blockIdx.x) * tile_bytes;
    if (threadIdx.x < 2) {
        const u64 last = tile + tile_bytes - 1;
        range[threadIdx.x] = hits_upto(task, threadIdx.x == 0 ? tile : last, 0, task.hit_count);
    }
    __syncthreads();
    const u64 begin = tile + threadIdx.x * bytes_per_thread;
    if (begin >= task.result_size) return;
    u64 hits = hits_upto(task, begin, range[0], range[1]);
    const u64 end = begin + bytes_per_thread < task.result_size ? begin + bytes_per_thread : task.result_size;
    for (u64 byte = begin; byte < end; ++byte) {
        while (hits < range[1] && place_of(task, hits) <= byte) ++hits;
        if (hits == 0) {
            out[byte] = task.text[byte];
            continue;
        }
        const u64 past = byte - place_of(task, hits - 1);
        out[byte] = past < task.replacement_length
                        ? task.replacement[past]
                        : task.text[task.hits[hits - 1] + task.length + (past - task.replacement_length)];
    }
}
