// How many keys are between each two of m + 1 edges: histogram.cu with the table of cells.hpp, in shared memory.
//
// Bytes moved per key of width w: w, and for each block 8 a bucket and 4 a cell. 20 instructions a key of 4 bytes, 27
// of floating point, of the 32 that reading leaves; and 3.5 rounds of shared memory for the table, as lanes meet in its
// banks (docs/decisions/0011-histogram.md).
#include "arrange/histogram/count.cuh"

using namespace headrace;

using Wide = Widened<Key>::Type;

// Between edges: `words` are those of the cells.
struct Between {
    Cells<Key> cells;
    const u32* words;
    const Wide* edges;
    template <u32 n>
    __device__ __forceinline__ void all(u32 (&b)[n], const Key (&keys)[n]) const {
        u32 any = 0;
#pragma unroll
        for (u32 k = 0; k < n; ++k) {
            const Spot at = spot(cells, place(cells, Widened<Key>::of(keys[k], cells.low)));
            const u32 word = words[at.cell];
            any |= word;
            b[k] = (word + at.within) >> cells.fraction;
        }
        if ((any & crowded) == 0) return;  // of a crowded cell the sum is greater than any bucket
#pragma unroll
        for (u32 k = 0; k < n; ++k) {
            if (b[k] <= cells.buckets) continue;
            const auto key = Widened<Key>::of(keys[k], cells.low);
            const u32 cell = spot(cells, place(cells, key)).cell;
            b[k] = bucket_in_crowd(words[cell], words[cell + 1], cells.fraction, edges, key);
        }
    }
};

// Copies the words of the cells, 4 bytes each and padded to 16, to shared memory and returns what is behind them.
static __device__ __forceinline__ u32* take_words(u32* shared, const Cells<Key>& cells, const u32* words) {
    for (u32 i = threadIdx.x; i <= cells.count; i += threads) shared[i] = words[i];
    return shared + (cells.count + 4) / 4 * 4;
}

// Shared memory: the words of the cells, padded to 16 bytes; the edges, padded likewise, where `kept`; counters.
extern "C" __global__ void __launch_bounds__(threads, resident)
    histogram_between(const Key* keys, i64 count, u64* result, u32 replicas, u32 kept, Cells<Key> cells,
                      const u32* words, const Wide* edges) {
    HR_DYNAMIC_SHARED(u32, shared);
    u32* counters = take_words(shared, cells, words);
    if (kept != 0) {
        Wide* const mine = reinterpret_cast<Wide*>(counters);
        for (u32 i = threadIdx.x; i <= cells.buckets; i += threads) mine[i] = edges[i];
        counters += (cells.buckets * (sizeof(Wide) / 4) + sizeof(Wide) / 4 + 3) / 4 * 4;
        edges = mine;
    }
    count_replicated<HR_ROWS / 2>(keys, count, result, counters, cells.buckets, replicas,
                                  Between{cells, shared, edges});
}

// As histogram_packed; the words of the cells come first in shared memory.
extern "C" __global__ void __launch_bounds__(threads)
    histogram_packed_between(const Key* keys, i64 count, u64* result, u32 window, Cells<Key> cells, const u32* words,
                             const Wide* edges) {
    HR_DYNAMIC_SHARED(u32, shared);
    u32* const counters = take_words(shared, cells, words);
    count_packed(keys, count, result, counters, cells.buckets, blockIdx.y * window, window,
                 Between{cells, shared, edges});
}

// The words of the cells, `cells.count` + 1 of them; `edges` widened, `cells.buckets` + 1 of them.
extern "C" __global__ void __launch_bounds__(threads) histogram_cells(Cells<Key> cells, const Wide* edges, u32* words) {
    const u32 cell = blockIdx.x * threads + threadIdx.x;
    if (cell <= cells.count) words[cell] = word_of_cell(cells, edges, cell);
}
