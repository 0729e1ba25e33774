// Finds a pattern by methods of Rabin and Karp (Ashkiani 2017, chapter 2). A block takes a tile of the
// text. A first stage finds the windows that have the pattern's fingerprint (windows.cuh). A second one compares their
// bytes (verify.cuh).
//
// Bytes moved per byte of text: 1 for DRK and HRK, 32 for CRK, which reads two matrices a position.
#include "gpu/block/memory_access.cuh"
#include "query/find/paper/verify.cuh"
#include "query/find/paper/windows.cuh"

using namespace headrace;

HR_FN u32 hits_of(const FindTask& task, const Fingerprint& print, const Matrix* prefixes, u32 stored) {
    HR_DYNAMIC_SHARED(u8, shared);
    const u64 first = (static_cast<u64>(blockIdx.x) * threads + threadIdx.x) * thread_positions;
    u32 mask;
    if (form == FingerprintForm::matrix) {
        mask = cooperative_mask(task, print, first, prefixes);
    } else if (form == FingerprintForm::hybrid) {
        mask = hybrid_mask(task, print, reinterpret_cast<Matrix*>(shared));
    } else {
        mask = divided_mask(task, print, first, shared, stored);
    }
    return verified(task, first, mask);
}

// Returns the number of hits of the block in all threads.
HR_FN u32 block_count(u32 hits) {
    __shared__ u32 totals[warps];
    const u32 own = __reduce_add_sync(tile::all_lanes, static_cast<u32>(__popc(hits)));
    return tile::scan_warps<Sum<u32>, threads>(own, totals).total;
}

extern "C" __global__ void __launch_bounds__(threads)
    count_windows(FindTask task, Fingerprint print, const Matrix* prefixes, u32 stored, FindResult* result) {
    const u32 total = block_count(hits_of(task, print, prefixes, stored));
    if (threadIdx.x == 0 && total != 0) atomicAdd(&result->count, u64{total});
}

// `marks`: a bit for each position, the first of them for position 0. `counts`: hits of each tile.
extern "C" __global__ void __launch_bounds__(threads)
    mark_windows(FindTask task, Fingerprint print, const Matrix* prefixes, u32 stored, FindResult* result, u32* marks,
                 u32* counts) {
    const u32 hits = hits_of(task, print, prefixes, stored);
    const u32 total = block_count(hits);
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = total;
        if (total != 0) atomicAdd(&result->count, u64{total});
    }
    marks[static_cast<u64>(blockIdx.x) * threads + threadIdx.x] = hits;
}
