// How many keys are in each bucket. Each block counts in shared memory and adds what it counted to the result when it
// has seen its keys. (Dissertation of Ashkiani 2017, section 3.6.2: a block's own histogram, added atomically;
// replicas against contention: Gomez-Luna et al. 2013, "An optimized approach to histogram computation on GPU".)
//
// Up to a few thousand buckets a counter has several replicas, one for each lane where there is room: then a warp's 32
// additions go to 32 banks and never meet. Up to 65,536 buckets counters are 16 bits wide, two in a word: who takes a
// counter over 2^15 moves 2^15 to the result. Between two barriers a block adds less than 2^15 to any counter, so none
// overflows.
//
// Bytes moved per key of width w: w, and for each block 4 to 8 a bucket (and 16 KB of cells where edges are given).
#include "arrange/bucket.hpp"
#include "core/tile/rows.cuh"

using namespace headrace;

using Key = HR_KEY;
constexpr u32 threads = HR_THREADS;
constexpr u32 rows = HR_ROWS;
constexpr u32 tile_keys = threads * rows * tile::per_vector<Key>;
constexpr u32 edges_kept = 2048;

// By even parts; `edges` null.
struct Buckets {
    Even<Key> even;
    const Key* edges;
    const u32* cell_words;
};

#if defined(HR_BUCKET)
// By an expression of the caller's (expression.py), such as (key >> 24u).
struct WithoutEdges {
    Even<Key> unused;
    u32 count;
    __device__ __forceinline__ u32 operator()(Key key) const {
        const u32 bucket = HR_BUCKET;
        return bucket < count ? bucket : no_bucket;
    }
};
#else
struct WithoutEdges {
    Even<Key> even;
    u32 count;
    __device__ __forceinline__ u32 operator()(Key key) const { return Even<Key>::part(even, key, count); }
};
#endif

template <class Edges>
struct WithEdges {
    Even<Key> even;
    const u32* cell_words;
    Edges edges;
    __device__ __forceinline__ u32 operator()(Key key) const {
        const u32 cell = Even<Key>::part(even, key, cells);
        return cell == no_bucket ? no_bucket : bucket_in_cell(cell_words[cell], key, edges);
    }
};

// Calls `add` with each of the block's keys and `meet` between tiles; all threads come to each `meet`.
template <class Add, class Meet>
static __device__ __forceinline__ void visit(const Key* keys, i64 count, Add add, Meet meet) {
    constexpr u32 per = tile::per_vector<Key>;
    const i64 misplaced = static_cast<i64>(reinterpret_cast<u64>(keys) % 16) / static_cast<i64>(sizeof(Key));
    i64 head = misplaced == 0 ? 0 : per - misplaced;
    if (head > count) head = count;
    const i64 tiles = (count - head) / tile_keys;
    const i64 tail = head + tiles * tile_keys;
    const Key* const whole = keys + head;
    for (i64 number = blockIdx.x; number < tiles; number += gridDim.x) {
        tile::Rows<Key, rows> mine;
        tile::load_rows(mine, whole + number * tile_keys, tile_keys, true, Key());
#pragma unroll
        for (u32 row = 0; row < rows; ++row) {
#pragma unroll
            for (u32 k = 0; k < per; ++k) add(mine.row[row].item[k]);
        }
        meet();
    }
    // What is before the first tile and behind the last: less than two tiles, shared by all blocks.
    const i64 rest = head + count - tail;
    for (i64 i = static_cast<i64>(blockIdx.x) * threads; i < rest; i += static_cast<i64>(gridDim.x) * threads) {
        const i64 at = i + threadIdx.x;
        if (at < rest) add(keys[at < head ? at : tail + at - head]);
        meet();
    }
}

// `replicas`: a power of two. Counter b has them at b * replicas.
template <class Bucket>
static __device__ __forceinline__ void count_replicated(const Key* keys, i64 count, u32* counters, u32 replicas,
                                                        const Bucket& bucket) {
    u32* const mine = counters + (threadIdx.x & (replicas - 1));
    const u32 shift = static_cast<u32>(trailing_zeros(replicas));
    visit(
        keys, count,
        [&](Key key) {
            const u32 b = bucket(key);
            if (b != no_bucket) atomicAdd(&mine[b << shift], 1u);
        },
        [] {});
}

// Shared memory: counters for `count` buckets times replicas; where edges are given the words of the cells before
// them, and edges up to `edges_kept` of them. `result` is added to.
extern "C" __global__ void __launch_bounds__(threads)
    histogram(const Key* keys, i64 count, u64* result, u32 buckets, u32 replicas, Buckets how) {
    HR_DYNAMIC_SHARED(u32, shared);
    const u32 guide = how.edges == nullptr ? 0 : cells;
    const u32 kept = how.edges == nullptr || buckets > edges_kept ? 0 : buckets;
    u32* const counters = shared + guide + kept;
    for (u32 i = threadIdx.x; i < guide; i += threads) shared[i] = how.cell_words[i];
    for (u32 i = threadIdx.x; i + 1 < kept; i += threads) shared[guide + i] = bits_as<u32>(how.edges[i + 1]);
    for (u32 i = threadIdx.x; i < buckets * replicas; i += threads) counters[i] = 0;
    __syncthreads();
    if (how.edges == nullptr) {
        count_replicated(keys, count, counters, replicas, WithoutEdges{how.even, buckets});
    } else if (kept != 0) {
        const Key* const edges = reinterpret_cast<const Key*>(shared + guide);
        count_replicated(keys, count, counters, replicas, WithEdges<const Key*>{how.even, shared, edges});
    } else {
        count_replicated(keys, count, counters, replicas, WithEdges<const Key*>{how.even, shared, how.edges + 1});
    }
    __syncthreads();
    for (u32 b = threadIdx.x; b < buckets; b += threads) {
        u32 sum = 0;
        for (u32 r = 0; r < replicas; ++r) sum += counters[b * replicas + ((r + b) & (replicas - 1))];
        if (sum != 0) atomicAdd(&result[b], static_cast<u64>(sum));
    }
}

constexpr u32 most_16 = 0x8000;
static_assert(tile_keys + most_16 <= 0xFFFF);

// Adds `by` to a 16-bit counter.
static __device__ __forceinline__ void add_packed(u32* counters, u64* result, u32 b, u32 by) {
    const u32 shift = (b & 1) * 16;
    const u32 before = (atomicAdd(&counters[b / 2], by << shift) >> shift) & 0xFFFF;
    if (before < most_16 && before + by >= most_16) {
        atomicSub(&counters[b / 2], most_16 << shift);
        atomicAdd(&result[b], static_cast<u64>(most_16));
    }
}

template <class Bucket>
static __device__ __forceinline__ void count_packed(const Key* keys, i64 count, u32* counters, u64* result, u32 first,
                                                    u32 size, const Bucket& bucket) {
    visit(
        keys, count,
        [&](Key key) {
            const u32 b = bucket(key) - first;
            if (b < size) add_packed(counters, result + first, b, 1);
        },
        [] { __syncthreads(); });
}

// Blocks with the same y count the `window` buckets from y * window on; `window` is even. Shared memory: as above, with
// 2 bytes a bucket of the window.
extern "C" __global__ void __launch_bounds__(threads)
    histogram_packed(const Key* keys, i64 count, u64* result, u32 buckets, u32 window, Buckets how) {
    HR_DYNAMIC_SHARED(u32, shared);
    const u32 guide = how.edges == nullptr ? 0 : cells;
    const u32 first = blockIdx.y * window;
    const u32 size = buckets - first < window ? buckets - first : window;
    u32* const counters = shared + guide;
    for (u32 i = threadIdx.x; i < guide; i += threads) shared[i] = how.cell_words[i];
    for (u32 i = threadIdx.x; i < window / 2; i += threads) counters[i] = 0;
    __syncthreads();
    if (how.edges == nullptr) {
        count_packed(keys, count, counters, result, first, size, WithoutEdges{how.even, buckets});
    } else {
        count_packed(keys, count, counters, result, first, size,
                     WithEdges<const Key*>{how.even, shared, how.edges + 1});
    }
    __syncthreads();
    for (u32 b = threadIdx.x; b < size; b += threads) {
        const u32 sum = (counters[b / 2] >> ((b & 1) * 16)) & 0xFFFF;
        if (sum != 0) atomicAdd(&result[first + b], static_cast<u64>(sum));
    }
}

// The words of the cells; `edges` as they are given, `buckets` + 1 of them.
extern "C" __global__ void __launch_bounds__(threads)
    histogram_cells(Even<Key> even, const Key* edges, u32 buckets, u32* cell_words) {
    const u32 cell = blockIdx.x * threads + threadIdx.x;
    if (cell >= cells) return;
    const u32 before = edges_before_cell(even, cell, edges + 1, buckets - 1);
    cell_words[cell] = cell_word(before, edges_before_cell(even, cell + 1, edges + 1, buckets - 1) - before);
}
