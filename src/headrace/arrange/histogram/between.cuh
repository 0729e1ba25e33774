// Counts the keys between each two of m + 1 edges: histogram.cu with the table of cells.hpp in shared memory.
//
// Bytes moved per key of width w: w, and for each block 8 per bucket and 4 per cell. A key of 4 bytes takes 20
// instructions, a float 27, of the 32 that the rate of memory allows. Lookups take 3.5 wavefronts of shared memory,
// because of bank conflicts (docs/decisions/0011-histogram.md).
#pragma once
#include "arrange/histogram/count.cuh"

#if !defined(HR_BUCKET)
using namespace headrace;

using Wide = Widened<Key>::Type;

// Computes buckets between edges; `words`: table of the cells.
struct Between {
    Cells<Key> cells;
    const u32* words;
    const Wide* edges;
    template <u32 n>
    HR_MEMBER void all(u32 (&b)[n], const Key (&keys)[n]) const {
        u32 any = 0;
#pragma unroll
        for (u32 k = 0; k < n; ++k) {
            const Spot at = spot(cells, place(cells, Widened<Key>::of(keys[k], cells.low)));
            const u32 word = words[at.cell];
            any |= word;
            b[k] = (word + at.within) >> cells.fraction;
        }
        if ((any & crowded) == 0) return;  // in a crowded cell the sum is greater than any bucket
#pragma unroll
        for (u32 k = 0; k < n; ++k) {
            if (b[k] <= cells.buckets) continue;
            const auto key = Widened<Key>::of(keys[k], cells.low);
            const u32 cell = spot(cells, place(cells, key)).cell;
            b[k] = bucket_in_crowd(words[cell], words[cell + 1], cells.fraction, edges, key);
        }
    }
};

// Copies the words of the cells, 4 bytes each and padded to 16, to shared memory; returns the memory after them.
HR_FN u32* take_words(u32* shared, const Cells<Key>& cells, const u32* words) {
    for (u32 i = threadIdx.x; i <= cells.count; i += threads) shared[i] = words[i];
    return shared + (cells.count + 4) / 4 * 4;
}

// Dynamic shared memory: the words of the cells, padded to 16 bytes; if `edges_in_shared`, the edges, padded likewise;
// counters.
extern "C" __global__ void __launch_bounds__(threads, resident)
    histogram_between(const Key* keys, i64 count, u64* result, u32 replicas, u32 edges_in_shared, Cells<Key> cells,
                      const u32* words, const Wide* edges) {
    HR_DYNAMIC_SHARED(u32, shared);
    u32* counters = take_words(shared, cells, words);
    if (edges_in_shared != 0) {
        Wide* const mine = reinterpret_cast<Wide*>(counters);
        for (u32 i = threadIdx.x; i <= cells.buckets; i += threads) mine[i] = edges[i];
        counters += (cells.buckets * (sizeof(Wide) / 4) + sizeof(Wide) / 4 + 3) / 4 * 4;
        edges = mine;
    }
    count_replicated<HR_ROWS / 2>(keys, count, result, counters, cells.buckets, replicas,
                                  Between{cells, shared, edges});
}

// Counts like histogram_packed; shared memory has the words of the cells before the counters.
extern "C" __global__ void __launch_bounds__(threads)
    histogram_packed_between(const Key* keys, i64 count, u64* result, u32 window, Cells<Key> cells, const u32* words,
                             const Wide* edges) {
    HR_DYNAMIC_SHARED(u32, shared);
    u32* const counters = take_words(shared, cells, words);
    count_packed(keys, count, result, counters, cells.buckets, blockIdx.y * window, window,
                 Between{cells, shared, edges});
}

// Writes the words of the cells, `cells.count` + 1 of them; `edges`: `cells.buckets` + 1 widened keys.
extern "C" __global__ void __launch_bounds__(threads) histogram_cells(Cells<Key> cells, const Wide* edges, u32* words) {
    const u32 cell = blockIdx.x * threads + threadIdx.x;
    if (cell <= cells.count) words[cell] = word_of_cell(cells, edges, cell);
}
#endif
